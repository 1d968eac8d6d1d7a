# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# The machine's own apt: installing what its distribution has, and reading another release of that
# distribution without touching the machine's state. Sourced by tools/setup.sh.
#
# No mirror is named here: every address, proxy and credential is the one that apt is set up with.

# Sets `as_root` to the words before a command that needs root, or fails when there is no way.
find_root() {
  as_root=()
  [ "$(id -u)" -eq 0 ] && return 0
  command -v sudo >/dev/null || return 1
  if sudo -n true 2>/dev/null || { [ -t 0 ] && [ -t 2 ]; }; then
    as_root=(sudo)
    return 0
  fi
  return 1
}

# Installs packages of the machine's own release. Never removes one.
install_packages() {
  local install=(apt-get install --yes --no-install-recommends --no-remove "$@")
  if ! find_root; then
    printf 'kiln setup: error: packages are missing, and this user may not install them\n' >&2
    hint "run these two lines as root, then this script again:"
    printf '  apt-get update\n  %s\n' "${install[*]}" >&2
    exit 3
  fi
  say "installing from this machine's own distribution: $*"
  quietly "${as_root[@]}" apt-get update || note "going on with the package lists that are there"
  quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" ||
    die "apt could not install: $*" "run by hand to see more: ${install[*]}"
}

# The first of the given names that apt can install.
first_candidate() {
  local name
  for name in "$@"; do
    apt-cache policy "$name" 2>/dev/null | grep -q '^  Candidate: [^(]' || continue
    printf '%s\n' "$name"
    return 0
  done
  return 1
}

# The address of the archive that this machine's own release comes from, as apt resolves it from
# whatever form its configuration has.
archive_address() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(CODENAME) $(COMPONENT)' \
    'Created-By: Packages' 2>/dev/null |
    awk -v own="$distribution_codename" '
      $NF != "main" { next }
      $2 == own || $3 == own { print $1; found = 1; exit }
      $2 ~ /^(stable|oldstable|testing)$/ && !second { second = $1 }
      END { if (!found && second) print second }'
}

# Reads the indexes of one release into a private folder; `release_apt` then holds the options that
# make any apt command see that release and nothing else.
open_release() {
  local release=$1 folder="$work/apt-$1"
  release_apt=(
    -oDir::Etc::SourceList="$folder/archive.sources" -oDir::Etc::SourceParts=/dev/null
    -oDir::Etc::Preferences=/dev/null -oDir::Etc::PreferencesParts=/dev/null
    -oDir::State::Lists="$folder/lists" -oDir::State::status=/dev/null
    -oDir::Cache::pkgcache= -oDir::Cache::srcpkgcache=
    -oAPT::Default-Release= -oAcquire::Languages=none)
  [ -d "$folder" ] && return 0
  local address keyring
  address=$(archive_address)
  [ -n "$address" ] || die "apt's configuration names no archive for '$distribution_codename'" \
    "see /etc/apt/sources.list and /etc/apt/sources.list.d"
  mkdir -p "$folder/lists/partial"
  {
    printf 'Types: deb deb-src\nURIs: %s\nSuites: %s\nComponents: main' "$address" "$release"
    [ "$distribution" = ubuntu ] && printf ' universe'
    printf '\n'
    for keyring in /usr/share/keyrings/"$distribution"-archive-keyring.gpg; do
      [ -e "$keyring" ] && printf 'Signed-By: %s\n' "$keyring"
    done
  } >"$folder/archive.sources"
  say "reading the package index of $distribution $release"
  quietly apt-get "${release_apt[@]}" -oAPT::Update::Error-Mode=any update ||
    die "the package index of $distribution $release cannot be read" \
      "a key is missing: install the newest $distribution-archive-keyring" \
      "or set ROCM_PATH to a ROCm that is installed already"
}

# Downloads one row of prefix.txt into the current folder and checks it.
fetch() {
  local release=$1 kind=$2 package=$3 version=$4 architecture=$5 digest=$6 file offered
  open_release "$release"
  if [ "$kind" = source ]; then
    quietly apt-get "${release_apt[@]}" source --download-only "$package" || return 1
    file=$(echo "$package"_*.orig.tar.*)
    offered=${file#"$package"_}
    offered=${offered%.orig.tar.*}
  else
    quietly apt-get "${release_apt[@]}" download "$package" || return 1
    file=$(echo "$package"_*.deb)
    offered=$(dpkg-deb --field "$file" Version)
    [ "$architecture" = all ] || [ "$architecture" = "$(dpkg --print-architecture)" ] || digest=-
  fi
  [ "$digest" = - ] && return 0
  if [ "$offered" != "$version" ]; then
    note "$package $offered is used: $distribution $release no longer has $version, which was tested"
  elif [ "$(sha256sum <"$file")" != "$digest  -" ]; then
    die "$file has not the digest that is recorded for it" \
      "the archive serves an altered file, or tools/setup/prefix.txt is wrong: do not go on"
  fi
}

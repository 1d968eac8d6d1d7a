# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# Uses the machine's own apt: installs packages of its release, and reads another release of the
# same distribution without changing the machine's state. Sourced by tools/setup.sh.
#
# This script names no mirror. All addresses, proxies and credentials are those that apt is
# configured with.

# Sets `as_root` to the command prefix that gives root rights. Fails if there is no way to get them.
find_root() {
  as_root=()
  [ "$(id -u)" -ne 0 ] || return 0
  command -v sudo >/dev/null || return 1
  as_root=(sudo)
  sudo -n true 2>/dev/null || { [ -t 0 ] && [ -t 2 ]; }  # ask for a password only where one can be typed
}

# Ends the run if this user cannot install packages. Prints the commands that an administrator has
# to run.
need_root_for() {  # PACKAGE...
  command -v apt-get >/dev/null ||
    die "'$distribution' has no apt: install by hand what these Debian packages hold: $*"
  ! find_root || return 0
  printf 'kiln setup: error: packages are missing, and this user may not install them: %s\n' "$*" >&2
  hint "run these two lines as root, then this script again"
  printf '  apt-get update\n  %s %s\n' "${apt_install[*]}" "$*" >&2
  exit 3
}

apt_install=(apt-get install --yes --no-install-recommends --no-remove)

update_lists() {
  need_root_for "${missing_packages[@]}"
  say "updating apt's package lists"
  quietly "${as_root[@]}" apt-get update || note "going on with the package lists that are there"
}

# Installs packages of the machine's own release; never removes one.
install_packages() {
  need_root_for "$@"
  say "installing from $distribution $distribution_codename: $*"
  quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${apt_install[@]}" "$@" ||
    die "apt cannot install: $*" "run it by hand to see more: ${apt_install[*]} $*"
}

# Like install_packages, but for optional packages. If they cannot be installed, prints a note.
try_packages() {
  if ! find_root; then
    note "left out, because this user may not install packages: $*"
    return 0
  fi
  say "installing from $distribution $distribution_codename: $*"
  quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${apt_install[@]}" "$@" ||
    note "apt cannot install: $*"
}

# True if apt can install the package. The package lists may be old or not there yet.
has_candidate() { apt-cache policy "$1" 2>/dev/null | grep '^  Candidate: [^(]' >/dev/null; }

# Prints the addresses of the archives that this machine's own release comes from. apt reads them,
# so that every form of its configuration works. The list includes archives of others that have
# releases of the same name.
archive_addresses() {
  apt-get update --print-uris 2>/dev/null |
    sed -nE "s#^'(.*)/dists/($distribution_codename|(old)*stable|testing|sid|unstable)/InRelease'.*#\\1#p" |
    grep -v '^cdrom:' | sort -u
}

# Reads the index of one release, of binary or source packages, into a folder of its own. Afterwards
# any apt command with the options `release_apt` sees only that index.
open_release() {  # RELEASE KIND
  local folder="$work/apt-$1-$2" address addresses
  release_apt=(
    -oDir::Etc::SourceList="$folder/archive.sources" -oDir::Etc::SourceParts=/dev/null
    -oDir::Etc::Preferences=/dev/null -oDir::Etc::PreferencesParts=/dev/null
    -oDir::State::Lists="$folder/lists" -oDir::State::status=/dev/null
    -oDir::Cache::pkgcache= -oDir::Cache::srcpkgcache=
    -oAPT::Default-Release= -oAPT::Update::Error-Mode=any -oAcquire::Languages=none)
  [ ! -d "$folder" ] || return 0
  addresses=$(archive_addresses)
  [ -n "$addresses" ] || die "apt's configuration names no archive of '$distribution_codename'" \
    "see /etc/apt/sources.list and /etc/apt/sources.list.d"
  say "reading the index of $distribution $1, $2 packages"
  mkdir -p "$folder/lists/partial"
  for address in $addresses; do
    describe_archive "$address" "$1" "$2" >"$folder/archive.sources"
    quietly apt-get "${release_apt[@]}" update && return 0
    if grep -q NO_PUBKEY "$work/log"; then
      # The keys of a newer release come with a newer keyring of the machine's own release.
      install_packages "$distribution-archive-keyring"
      quietly apt-get "${release_apt[@]}" update && return 0
    fi
  done
  rm -rf "$folder"
  return 1
}

describe_archive() {  # ADDRESS RELEASE KIND, as one of apt's .sources files
  local type=deb components=main keyring=/usr/share/keyrings/$distribution-archive-keyring.gpg
  [ "$3" = binary ] || type=deb-src
  [ "$distribution" != ubuntu ] || components='main universe'
  printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: %s\n' "$type" "$1" "$2" "$components"
  [ ! -e "$keyring" ] || printf 'Signed-By: %s\n' "$keyring"
}

# Downloads the packages of one part into the current folder and checks them. Sets `fetched` to the
# files. For a source package this is its original archive.
fetch_part() {
  local part row releases kind package version architecture digest
  fetched=()
  while read -r part row releases kind package version architecture digest; do
    if [ "$part" = "$1" ] && [ "$row" = "$distribution" ]; then
      fetch "$releases" "$kind" "$package"
      check_digest "$version" "$architecture" "$digest"
      fetched+=("$file")
    fi
  done < <(rows "$here/setup/prefix.txt")
  [ "${#fetched[@]}" -gt 0 ] || die "no packages for '$1' are known for '$distribution'" "$(do_without "$1")"
}

# Downloads the packages of one part and unpacks all of them into root/.
unpack() {
  local file
  fetch_part "$1"
  mkdir -p root
  for file in "${fetched[@]}"; do dpkg-deb --extract "$file" root; done
}

do_without() {
  case "$1" in
    catch2) printf 'install Catch2 %s or newer where CMake finds it' "$catch2_minimum" ;;
    *) printf 'install a ROCm and set ROCM_PATH, or do without AMD targets: KILN_SETUP_ROCM=no' ;;
  esac
}

# Downloads one package. Sets `package`, `release`, `offered` (its version) and `file`.
fetch() {  # RELEASE[,RELEASE...] KIND PACKAGE
  local show=show download=(download)
  [ "$2" = binary ] || show=showsrc download=(source --download-only)
  for release in ${1//,/ }; do
    [ "$release" != own ] || release=$distribution_codename
    open_release "$release" "$2" || continue
    offered=$(apt-cache "${release_apt[@]}" "$show" "$3" 2>/dev/null |
      sed -n 's/^Version: //p' | sort -V | tail -n 1)
    [ -n "$offered" ] || continue
    # apt downloads as a user of its own, which cannot write to a folder of root.
    [ "$(id -u)" -ne 0 ] || ! id _apt >/dev/null 2>&1 || chown _apt .
    quietly apt-get "${release_apt[@]}" "${download[@]}" "$3" || continue
    file=$(find . -name "$3_*.deb" -o -name "$3_*.orig.tar.*" ! -name '*.asc')
    return 0
  done
  die "no package '$3' could be had from $distribution $1" "$(do_without "$part")"
}

# Checks the digest of `file`. apt has already checked the file against the signed index of its
# release. If the index still has the recorded version, the digest must also be the recorded one.
check_digest() {  # VERSION ARCHITECTURE DIGEST
  [ "$2" = all ] || [ "$2" = "$(dpkg --print-architecture)" ] || return 0
  if [ "$offered" != "$1" ]; then
    note "$distribution $release has replaced $package $1, which kiln was tested with: using $offered"
  elif [ "$(sha256sum <"$file" | cut -d ' ' -f 1)" != "$3" ]; then
    die "$package $1 is not the file recorded in tools/setup/prefix.txt: $file" \
      "its digest should be $3" "do not use an archive that serves altered files"
  fi
}

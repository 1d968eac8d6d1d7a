# Runs hipify-perl with the same output, messages and exit status as its own, in a fraction of the time.
#
#   perl hipify_driver.pl HIPIFY-PERL -o=OUTPUT INPUT
#
# hipify-perl tries thousands of regular expressions, on the whole file or on each line, whether or
# not the word that each looks for is there. This driver reads hipify-perl's text, edits it in memory
# so that a word's expression is tried only where the word occurs, and runs the edited text. The edits
# keep every line's number. Where one does not fit, the driver runs hipify-perl as it is.
#
# Two steps of hipify-perl are left out, since with these arguments they change nothing: counting
# device functions, which serves -print-stats, and whitelisted words of lines without a cuda word.
#
# kiln uses the driver only with versions of hipify-perl that it was verified with:
# tools/hipify/hipify_driver.cpp.

# Before any lexical variable: the text must see none of ours.
sub run_text { eval $_[0] }

package Kiln::HipifyDriver;
use strict;
use warnings;

# Every edit must be made exactly once.
my $is_fit = 1;
sub edit {
  my ($text, $pattern, $by) = @_;
  my $count = $$text =~ s/$pattern/$by->()/ge;
  $is_fit &&= $count == 1;
}

sub newlines { "\n" x ($_[0] =~ tr/\n//) }

# ---- substitutions -------------------------------------------------------------------------------

# subst(from, to, kind) in order. `from` is a word, or a path in which '.' is any character.
my @rules;

# A rule replaces whole words of the text in $_. So the text's words afterwards are among those
# before and those of `to`, and a rule for a word that is not among them has nothing to do.
sub substitute {
  my %words;
  @words{/\w+/g} = ();
  for my $rule (@rules) {
    my ($from, $to, $kind, $start) = @$rule;
    next unless defined $start ? index($_, $start) >= 0 : exists $words{$from};
    main::subst($from, $to, $kind);
    @words{$to =~ /\w+/g} = ();
  }
}

sub drive_substitutions {
  my ($text) = @_;
  my $string = qr/"((?:[\w.]|\\\/)+)"/;
  my $rule = qr/ +subst\("(?:[\w.]|\\\/)+", "[^"\\\$\@]*(?:\\\/[^"\\\$\@]*)*", "\w+"\);\n/;
  edit($text, qr/(?<=^sub simpleSubstitutions \{)\n(?:$rule)+(?=\}$)/m, sub {
    my $body = $&;
    while ($body =~ /subst\($string, "([^"]*)", "(\w+)"\);/g) {
      my ($from, $to, $kind) = ($1, $2, $3);
      s/\\\//\//g for $from, $to;
      # The ends are parts of words: see substitute().
      $is_fit &&= $from =~ /^\w/ && $from =~ /\w$/;
      push @rules, [$from, $to, $kind, $from =~ /^(\w+)\W/ ? $1 : undef];
    }
    $is_fit &&= @rules == $body =~ tr/\n// - 1;
    "Kiln::HipifyDriver::substitute();" . newlines($body);
  });
  for my $unused ("rocSubstitutions", "experimentalSubstitutions") {
    edit($text, qr/(?<=^sub $unused \{)\n(?:$rule)+(?=\}$)/m, sub { newlines($&) });
  }
}

# ---- warnings ------------------------------------------------------------------------------------

# hipify-perl looks for each word of a list by m/(word)/g in scalar context, which starts behind the
# match of the word before, or at the start of the line if that one did not match. So of each run of
# words that do not occur, one stays in the list.
sub thin {
  my ($words, $text) = @_;
  my ($is_in_gap, @kept);
  for my $word (@$words) {
    if (index($text, $word) >= 0) {
      $is_in_gap = 0;
    } else {
      next if $is_in_gap;
      $is_in_gap = 1;
    }
    push @kept, $word;
  }
  return \@kept;
}

my $file_words;  # every word of the input, once
my %lists;       # name -> words, in order
my %in_file;     # name -> the same, thinned to the input

sub look_at {
  my ($text) = @_;
  my %words;
  @words{$text =~ /\w+/g} = ();
  $file_words = join "\n", keys %words;
}

# The list, thinned to the line in $_.
sub for_line {
  my ($name) = @_;
  return thin($in_file{$name} //= thin($lists{$name}, $file_words), $_);
}

# As each() on a hash, for the line in $_.
my %pending;
sub next_for_line {
  my ($name, $hash) = @_;
  $lists{$name} //= [keys %$hash];
  my $words = $pending{$name} //= for_line($name);
  if (!@$words) {
    delete $pending{$name};
    return ();
  }
  my $word = shift @$words;
  return ($word, $hash->{$word});
}

sub drive_warnings {
  my ($text) = @_;
  edit($text, qr/(?=\$countKeywords \+= m\/__global__\/;)/,
       sub { 'Kiln::HipifyDriver::look_at($_); ' });
  for my $name ("experimental", "removed", "deprecated") {
    edit($text, qr/(?<== )each %${name}_funcs(?=\)$)/m,
         sub { "Kiln::HipifyDriver::next_for_line('$name', \\%${name}_funcs)" });
  }
  my $loop = qr/\s+my \$k = 0;\s+foreach \$func \(/;
  my $list = qr/\n(?: +"\w+",?\n)+ +(?=\)\n)/;
  for my $name ("warnUnsupportedFunctions", "warnHipOnlyUnsupportedFunctions",
                "warnUnsupportedDeviceFunctions") {
    edit($text, qr/^sub $name \{\s+my \$line_num = shift;$loop\K$list/m, sub {
      my $body = $&;
      $lists{$name} = [$body =~ /"(\w+)"/g];
      "\@{Kiln::HipifyDriver::for_line('$name')}" . newlines($body);
    });
  }
  edit($text, qr/^sub warnRocOnlyUnsupportedFunctions \{\s+my \$line_num = shift;$loop\K$list/m,
       sub { "()" . newlines($&) });
  edit($text, qr/^sub countSupportedDeviceFunctions \{$loop\K$list/m, sub { "()" . newlines($&) });
  edit($text, qr/# Remove any whitelisted words$/m, sub { 'next unless /\bcuda[A-Z]\w/;' });
}

# ---- main ----------------------------------------------------------------------------------------

my $script = shift @ARGV;
die "usage: hipify_driver.pl HIPIFY-PERL -o=OUTPUT INPUT\n"
  unless @ARGV == 2 && $ARGV[0] =~ /^-o=./ && $ARGV[1] =~ /^[^-]/;
my $text = do {
  open(my $file, "<:raw", $script) or die "error: could not open $script: $!\n";
  local $/;
  <$file>;
};
drive_substitutions(\$text);
drive_warnings(\$text);
if (!$is_fit) {
  exec $script, @ARGV or die "error: could not run $script: $!\n";
}

$0 = $script;
main::run_text("package main; no strict; no warnings;\n#line 1 \"$script\"\n$text");
die $@ if $@ ne "";

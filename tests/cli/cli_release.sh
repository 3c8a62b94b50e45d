#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/release: commits that it refuses, and what it makes of one in which nothing is missing. The
# make that builds and checks is a fake, which writes down what it was asked for.
# shellcheck source=tests/cli/cli.sh
. "$(dirname "$0")/cli.sh"
command -v git >/dev/null || { echo "git is missing"; exit 77; }
export GIT_CONFIG_GLOBAL=$SCRATCH/gitconfig GIT_CONFIG_NOSYSTEM=1
git config --global user.name Tester
git config --global user.email tester@latput.invalid

mkdir -p tree/tools tree/results/published bin
cp "$TREE/tools/release" tree/tools/
cp "$TREE/CONTACT" tree/
echo 9.8.7 >tree/VERSION
printf '# Changes\n\n## 9.8.8\n' >tree/CHANGELOG.md
echo /build/ >tree/.gitignore
echo pack >tree/results/published/one.tar.xz
git -C tree init -q
commit() { git -C tree add -A && git -C tree commit -qm "$1"; }
commit first
cat >bin/make <<'MAKE'
#!/usr/bin/env bash
echo "$*" | sed "s,$TMPDIR/tmp[^/]*,TREE," >>"$SCRATCH/asked"
case "$*" in
*' dist')
    mkdir -p build
    git archive --prefix=latput-9.8.7/ HEAD | gzip >build/latput-9.8.7.tar.gz
    echo build/latput-9.8.7.tar.gz ;;
*' deb')
    mkdir -p "$3/build/deb/latput/build/pages"
    echo page >"$3/build/deb/latput/build/pages/index.html"
    echo deb >"$3/build/latput_9.8.7_amd64.deb"
    echo build/latput_9.8.7_amd64.deb ;;
*' lint') [ ! -e "$SCRATCH/bad" ] ;;
esac
MAKE
chmod +x bin/make
mkdir tmp
export SCRATCH TMPDIR=$SCRATCH/tmp
release() {
    PATH=$SCRATCH/bin:$PATH tree/tools/release "$@" >"$OUT" 2>"$ERR" </dev/null
    STATUS=$?
    CLI_COMMAND="tools/release $*"
}
refused() { # WHY
    expect_status 2
    expect_err "^make release: $1"
    expect "nothing was begun" test ! -e asked -a ! -e tree/build
}
release --tags
refused 'usage'
echo x >tree/new
release
refused 'commit or stash'
rm tree/new
release
refused "VERSION says 9\.8\.7, and CHANGELOG\.md begins with '9\.8\.8'"
sed -i s/9.8.8/9.8.7/ tree/CHANGELOG.md
commit changes
release
refused 'CONTACT has no address'
echo 'A Person <a@latput.invalid>' >>tree/CONTACT
commit contact
git -C tree tag v9.8.7
release
refused 'there is a tag v9\.8\.7 already'
git -C tree tag -d v9.8.7 >/dev/null

# A check that fails ends it.
touch bad
release
expect "it failed" test "$STATUS" != 0
expect "nothing was made" test ! -e tree/build
rm bad asked

release
expect_status 0
expect_out '^no tag is made; make release TAG=yes makes v9\.8\.7$'
expect "checks come first, and what is made is made of the archive" diff asked - <<'ASKED'
-s all tests check lint
-s COMMIT= dist
-s -C TREE/latput-9.8.7 deb
-s -C TREE/latput-9.8.7/build/deb/latput pages
ASKED
expect "all parts" diff <(ls tree/build/release) - <<'PARTS'
SHA256SUMS
latput-9.8.7-figures.tar
latput-9.8.7-page.tar.gz
latput-9.8.7.tar.gz
latput_9.8.7_amd64.deb
PARTS
expect "their sums" env -C tree/build/release sha256sum --quiet --strict -c SHA256SUMS
expect "each has one" test "$(wc -l <tree/build/release/SHA256SUMS)" = 4
expect "the page" grep -q 'latput-9.8.7-page/index.html' \
    <(tar -t -z -f tree/build/release/latput-9.8.7-page.tar.gz)
expect "the packs" grep -q 'latput-9.8.7-figures/one.tar.xz' \
    <(tar -t -f tree/build/release/latput-9.8.7-figures.tar)
expect "no tag" test -z "$(git -C tree tag)"
expect "no scratch files are left" test -z "$(ls tmp)"
release --tag
expect_status 0
expect "a tag" test "$(git -C tree tag)" = v9.8.7
finish

#!/bin/sh
# Fetches the SQLite amalgamation (sqlite3.c, sqlite3.h) into DIR, once, out of
# the npm package better-sqlite3, which carries it unchanged in deps/sqlite3/.
# The version is fixed so that measurements stay comparable; the files are never
# committed. Exit status: 0 the files are there, 1 they could not be fetched.
# Usage: fetch-sqlite.sh DIR
set -eu

package=better-sqlite3@12.11.1

fail() {
    echo "fetch-sqlite: $1" >&2
    exit 1
}

[ $# -eq 1 ] || fail "usage: fetch-sqlite.sh DIR"
dir=$1
if [ -s "$dir/sqlite3.c" ] && [ -s "$dir/sqlite3.h" ]; then
    exit 0
fi

command -v npm >/dev/null || fail "npm is not installed, and SQLite's source comes from the npm package $package; install npm, or put sqlite3.c and sqlite3.h into $dir yourself"
mkdir -p "$dir" || fail "cannot make the folder $dir"
# Beside the target, so that the last step is a rename: sqlite3.c is there whole or not at all.
work=$(mktemp -d "$dir/fetch.XXXXXX") || fail "cannot write to $dir"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if ! (cd "$work" && npm pack --silent --ignore-scripts "$package" >packed 2>npm.log); then
    cat "$work/npm.log" >&2
    fail "npm cannot fetch $package; is the network reachable? You can also put sqlite3.c and sqlite3.h into $dir yourself"
fi
tar -xzf "$work/$(tail -n 1 "$work/packed")" -C "$work" package/deps/sqlite3 ||
    fail "$package holds no deps/sqlite3: its layout has changed"
for file in sqlite3.h sqlite3.c; do
    [ -s "$work/package/deps/sqlite3/$file" ] || fail "$package holds no deps/sqlite3/$file"
    mv "$work/package/deps/sqlite3/$file" "$dir/$file"
done

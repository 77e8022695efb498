#!/bin/sh
# Installs the Debian packages that a task needs and that are not there yet;
# says nothing when nothing is missing. Elsewhere than on Debian it says what is
# needed and leaves it to the user.
# Usage: packages.sh build|check|bench|tools...
set -eu

# clang-19 brings the linker and the headers of C and C++.
build="clang-19 llvm-19-dev meson ninja-build pkg-config python3
	libcmocka-dev libdw-dev libjansson-dev libroaring-dev libsqlite3-dev libzstd-dev valgrind"
check="cmake graphviz libclang-rt-19-dev lld-19 procps"
bench="gcc libc6-dev libclang-rt-19-dev"
tools="clang-format-19 clang-tidy-19"

needed=
for task in "$@"; do
	case $task in
	build) needed="$needed $build" ;;
	check) needed="$needed $check" ;;
	bench)
		needed="$needed $bench"
		# Also node's own package carries npm.
		command -v npm >/dev/null || needed="$needed npm"
		;;
	tools) needed="$needed $tools" ;;
	*)
		echo "packages.sh: no task '$task'; there are build, check, bench, tools" >&2
		exit 2
		;;
	esac
done

if ! command -v apt-get >/dev/null; then
	echo "packages.sh: this is no Debian, so please see to it that these are there:" $needed >&2
	exit 0
fi

missing=
for package in $needed; do
	case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
	installed) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "packages.sh: to install packages I need to be root; please run: apt-get install$missing" >&2
		exit 1
	fi
	as_root=sudo
fi

install() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
		-o Dpkg::Use-Pty=0 $missing >"$log" 2>&1
}

echo "installing$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists of a fresh machine are empty, those of an old one out of date.
if ! install && ! { $as_root apt-get update -qq >"$log" 2>&1 && install; }; then
	cat "$log" >&2
	echo "packages.sh: apt-get could not install$missing" >&2
	exit 1
fi

# For the tests from outside, to be sourced: a folder of their own to work in, verdicts
# that are counted, and calls of the tool. UNSNARL names the tool (default build/unsnarl),
# SOURCE the source folder. SHOWN lines of SHOWN_FILES go with a failure, a call ends after
# LIMIT seconds.
set -u
SOURCE=$(cd "${SOURCE:-$(dirname "$0")/..}" && pwd)
UNSNARL=$(realpath "${UNSNARL:-$SOURCE/build/unsnarl}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
ulimit -c 0
passed=0
failed=0
status=0

verdict() { # verdict STATUS WHAT
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'not ok: %s\n' "$2"
		head -n "${SHOWN:-20}" ${SHOWN_FILES:-out err} 2>/dev/null | sed 's/^/    /'
	fi
}

# Runs unsnarl with these arguments; leaves status, out and err.
call() {
	timeout "${LIMIT:-120}" "$UNSNARL" "$@" >out 2>err </dev/null
	status=$?
}

expect_status() { # expect_status NUMBER WHAT
	[ "$status" -eq "$1" ]
	verdict $? "$2: exit status $status instead of $1"
}

expect() { # expect FILE REGEX WHAT
	grep -Eq -- "$2" "$1"
	verdict $? "$3: no line like '$2' in $1"
}

reject() { # reject FILE REGEX WHAT
	! grep -Eq -- "$2" "$1"
	verdict $? "$3: a line like '$2' in $1"
}

expect_mistake() { # expect_mistake REGEX ARGUMENTS...
	local regex=$1
	shift
	call "$@"
	expect_status 2 "unsnarl $*"
	[ ! -s out ]
	verdict $? "unsnarl $*: something on stdout"
	expect err "$regex" "unsnarl $*"
}

# What the tests of isolate begin with: a folder of their own, and what the finding has to tell. UNSNARL names the tool.
set -u
: "${UNSNARL:?}"
UNSNARL=$(realpath "$UNSNARL")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

"$UNSNARL" exec --loom binary -- true 2>no-loom || { cat no-loom; exit 77; }

# tells NAME MARK…: the lines that have these marks are in the finding, and none of another file.
tells() {
	local name=$1 source=$(ls "$1".c "$1".cpp 2>/dev/null)
	shift
	timeout 240 "$UNSNARL" isolate --json --seed 1 -- ./"$name" >"$name.json" 2>"$name.err"
	python3 - "$name" "$source" "$@" <<'PY' || failed=1
import json, sys
name, source, marks = sys.argv[1], sys.argv[2], sys.argv[3:]
text = open(source).read().splitlines()
answer = json.load(open(name + ".json"))
accesses = answer["findings"][0]["accesses"] if answer["findings"] else []
lines = [(a["file"].rsplit("/")[-1], a["line"]) for a in accesses]
wanted = [(source, 1 + [i for i, line in enumerate(text) if mark in line][0]) for mark in marks]
if not set(wanted) <= set(lines) or {file for file, line in lines} - {source}:
    sys.exit(f"not ok: {name}: {lines}, and not {wanted}; sure {answer['sure']}")
PY
}

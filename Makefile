# A thin face on Meson. The targets that a newcomer types (demo, check, bench)
# first install the Debian packages they need; the others build with what is there.
# BUILD names the build folder, PREFIX and DESTDIR where `make install` puts things.
BUILD ?= build
PREFIX ?= /usr/local
SOURCES = $(shell git ls-files '*.c' '*.h' ':!corpus' ':!bench' ':!examples' ':!tests/*/*') # lines of test programs are named in tests

.PHONY: all install demo check check-correct bench bench-binary eval-hunt eval-diagnose eval-locon eval-bugaboo eval-invariants eval-colfinder eval-suppress sanitize fuzz format tidy packages clean

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	CC=clang-19 meson setup $(BUILD) . || { echo "'make packages' installs what is missing" >&2; exit 1; }

install: all
	meson configure $(BUILD) -Dprefix=$(PREFIX)
	meson install -C $(BUILD) --quiet $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

demo:
	@scripts/packages.sh build
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh $(BUILD)

check:
	@scripts/packages.sh build check
	@$(MAKE) --no-print-directory all $(BUILD)-sanitize/build.ninja $(BUILD)-fuzz/build.ninja
	ninja -C $(BUILD)-sanitize
	ninja -C $(BUILD)-fuzz fuzzers
	@scripts/check.py $(BUILD) $(BUILD)-sanitize $(BUILD)-fuzz

# Every correct program of tests/correct in 200 schedules with two jobs; LOAD=2 keeps the machine busy beside it.
LOAD ?= 0
check-correct: all
	tests/test_correct.py $(BUILD)/unsnarl --load $(LOAD)

bench:
	@scripts/packages.sh build bench
	@$(MAKE) --no-print-directory all
	bench/run.py --build $(BUILD)

# What observing costs on the binary loom, beside DRD and Helgrind.
bench-binary:
	@scripts/packages.sh build bench
	@$(MAKE) --no-print-directory all
	bench/binary.py --build $(BUILD)

# How hunts and replays do on the corpus, into doc/results.md; half an hour (EVAL="--seeds 2 …" for fewer).
eval-hunt: all
	scripts/eval-hunt.py --build $(BUILD) --write $(EVAL)

# How diagnoses do on the corpus, written to doc/results.md; EVAL passes options and names.
eval-diagnose:
	@scripts/packages.sh build
	@$(MAKE) --no-print-directory all
	scripts/eval-diagnose.py --build $(BUILD) --write $(EVAL)

# LOCON's Table 4 on the corpus, written to doc/results.md.
eval-locon:
	@scripts/packages.sh build
	@$(MAKE) --no-print-directory all
	scripts/eval-locon.py --build $(BUILD) --write $(EVAL)

# BUGABOO's tables on the corpus, into doc/results.md; EVAL passes options, as --trials 1.
eval-bugaboo:
	@scripts/packages.sh build
	@$(MAKE) --no-print-directory all
	scripts/eval-bugaboo.py --build $(BUILD) $(EVAL)

# Root causes of crashes on the corpus, as SUPPRESS's Tables II and III have them, judged by the bars, into doc/results.md.
eval-suppress: all
	UNSNARL=$(BUILD)/unsnarl scripts/eval_suppress.py --write $(EVAL)

# AI's tables on the corpus and the benchmark programs, into doc/results.md; RUNS=20 for a short one.
RUNS ?= 1000
eval-invariants:
	@scripts/packages.sh build
	@$(MAKE) --no-print-directory all
	scripts/eval-invariants.py --build $(BUILD) --write --runs $(RUNS) $(EVAL)

# COLFINDER's tables on the corpus, into doc/results.md; EVAL passes options, as --trials 1.
eval-colfinder:
	@scripts/packages.sh build
	@$(MAKE) --no-print-directory all
	scripts/eval-colfinder.py --build $(BUILD) --write $(EVAL)

# The tool and its unit tests with AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: $(BUILD)-sanitize/build.ninja
	ninja -C $(BUILD)-sanitize
	@scripts/check.py --sanitize $(BUILD)-sanitize

$(BUILD)-sanitize/build.ninja:
	CC=clang-19 meson setup -Db_sanitize=address,undefined -Db_lundef=false $(BUILD)-sanitize .

# Every reader of files that others may have written, FUZZ seconds each; FUZZED names targets.
FUZZ ?= 60
fuzz: all $(BUILD)-fuzz/build.ninja
	ninja -C $(BUILD)-fuzz fuzzers
	@scripts/fuzz.py --tool $(BUILD)/unsnarl --seconds $(FUZZ) $(BUILD)-fuzz $(FUZZED)

$(BUILD)-fuzz/build.ninja:
	CC=clang-19 meson setup -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args=-fsanitize=fuzzer-no-link $(BUILD)-fuzz .

format:
	clang-format-19 -i $(SOURCES)

tidy: all
	clang-tidy-19 --quiet -p $(BUILD) $(filter-out tests/%,$(filter %.c,$(SOURCES)))

packages:
	@scripts/packages.sh build check bench tools

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-fuzz

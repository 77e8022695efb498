# Completion of unsnarl's verbs, options and files for bash.
# Source this file, or install it as bash-completion/completions/unsnarl.

_unsnarl() {
	local verbs="diagnose cc c++ run hunt replay runs show locate rank scan slice verify learn guard relax expose help" options="" i
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$verbs -- --help --version" -- "$word")
		return
	fi
	case ${COMP_WORDS[1]} in
	cc | c++)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames
		return
		;;
	help)
		((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$word")
		return
		;;
	run)
		options="-n --runs -j --jobs --jitter --timeout --check --expect --input --share-files --share-network --label --observe"
		options+=" --loom --loops --context --granularity --machine --seed --store --json --help"
		;;
	--) ;; # a program, see below
	diagnose) options="--time --budget --loom -j --jobs --seed --timeout --check --expect --input --share-files --share-network --store --json --help" ;;
	hunt)
		options="-b --budget --passes --failures --policy --seed -j --jobs --timeout --check --expect --input --share-files --share-network --loom --context"
		options+=" --force --forbid --keep-going --no-reduce --early-timeouts --store --json --help"
		;;
	replay)
		options="-n --runs -j --jobs --until --gdb --at --gdb-commands --export --shortest --story --timeout"
		options+=" --store --json --help"
		;;
	runs) options="--campaign --curve --store --json --help" ;;
	show) options="--pairs --predecessors --edges --all --campaign --store --json --help" ;;
	locate) options="--procedure --level --falcon --sensitivity --top --store --json --help" ;;
	rank)
		options="--unlabelled --top --picture --compare --export --log --interval --threshold"
		options+=" --context --formula --campaign --store --json --help"
		;;
	scan) options="-n --top --all --why-pruned --why --time --store --json --help" ;;
	slice) options="--for -o --output --listing --html --prints --link --timeout --check --expect --json --help" ;;
	verify)
		options="--all --first -b --budget --timeout --check --expect --slice --no-hunt --link --seed --store --json --help"
		;;
	learn)
		options="-o --output --explain --bias --annotated --limit --campaign --traces -n --runs -j --jobs --free"
		options+=" --jitter --seed --timeout --check --expect --input --share-files --share-network --store --json --help"
		;;
	guard)
		options="--report --only --rank --program --set -o --output --limit --log -n --runs --jitter --timeout"
		options+=" --check --expect --json --help"
		;;
	expose) options="-n --runs --tries --stall --seed --timeout --check --expect --input --share-files --share-network --store --json --help" ;;
	relax) options="--set -o --output --bad --json --help" ;;
	*) return ;;
	esac

	# Behind -- stand a program and its arguments.
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] || continue
		if ((i == COMP_CWORD - 1)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		compopt -o filenames
		return
	done

	# --option=VALUE comes in three words.
	[[ $word == = ]] && word=
	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	case $before in
	--compare)
		mapfile -t COMPREPLY < <(compgen -W "line machine" -- "$word"; compgen -d -- "$word")
		compopt -o filenames
		return
		;;
	--store)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		compopt -o filenames
		return
		;;
	--expect | --export | --gdb-commands)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames
		return
		;;
	--policy) mapfile -t COMPREPLY < <(compgen -W "auto random pct2 pct3 pct5 pos surw guided" -- "$word") ;;
	--until) mapfile -t COMPREPLY < <(compgen -W "failure" -- "$word") ;;
	--formula) mapfile -t COMPREPLY < <(compgen -W "novelty paper" -- "$word") ;;
	--picture | --export | --log)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames
		return
		;;
	--label) mapfile -t COMPREPLY < <(compgen -W "pass fail" -- "$word") ;;
	--procedure) mapfile -t COMPREPLY < <(compgen -W "I II III" -- "$word") ;;
	--level) mapfile -t COMPREPLY < <(compgen -W "site thread loop moment" -- "$word") ;;
	--granularity) mapfile -t COMPREPLY < <(compgen -W "word line" -- "$word") ;;
	--observe) mapfile -t COMPREPLY < <(compgen -W "all none pairs predecessors edges" -- "$word") ;;
	--check) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
	-n | --runs | -j | --jobs | --time | --timeout | --context | --seed | --campaign | -b | --budget | --passes | --top | --interval | --threshold) ;;
	*)
		if [[ $word == -* || ${COMP_WORDS[1]} == runs ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
		elif [[ ${COMP_WORDS[1]} == show || ${COMP_WORDS[1]} == replay || ${COMP_WORDS[1]} == rank ]]; then
			mapfile -t COMPREPLY < <(compgen -W "last" -- "$word"; compgen -f -- "$word")
			compopt -o filenames
		else
			mapfile -t COMPREPLY < <(compgen -W "$options --" -- "$word"; compgen -f -- "$word")
			compopt -o filenames
		fi
		;;
	esac
}

complete -F _unsnarl unsnarl

# completion.bash - bash completion for strobe: commands, their options, traces, processes, sessions.
# Installed as share/bash-completion/completions/strobe.  SPDX-License-Identifier: MIT

_strobe()
{
    local cur prev words cword
    if declare -F _init_completion >/dev/null; then
        _init_completion || return
    else
        cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
        words=("${COMP_WORDS[@]}") cword=$COMP_CWORD
    fi
    local commands="record info stats memory locks top view csv query explain mcp diff merge cut export import recover sessions doctor report profile tracy-bridge tracy-capture tracy-csvexport"
    COMPREPLY=()
    if ((cword == 1)); then
        COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
        return
    fi

    local command=${words[1]} i
    # What follows `--` (or the first plain word) of record is the command to be recorded.
    if [[ $command == record ]]; then
        for ((i = 2; i < cword; i++)); do
            if [[ ${words[i]} == -- ]]; then
                if declare -F _command_offset >/dev/null; then
                    _command_offset $((i + 1))
                elif ((cword == i + 1)); then
                    COMPREPLY=($(compgen -c -- "$cur"))
                else
                    COMPREPLY=($(compgen -f -- "$cur"))
                fi
                return
            fi
        done
    fi

    case $prev in
        --web) COMPREPLY=($(compgen -d -S / -- "$cur")); return ;;
        -o | --output | --out) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --format) COMPREPLY=($(compgen -W "table csv json jsonl markdown" -- "$cur")); return ;;
        --tracy-announced) COMPREPLY=($(compgen -W "loopback any none" -- "$cur")); return ;;
        --flavor) COMPREPLY=($(compgen -W "0.11 0.14 tt" -- "$cur")); return ;;
        --policy) COMPREPLY=($(compgen -W "wait drop" -- "$cur")); return ;;
        --python) COMPREPLY=($(compgen -W "functions lines marks off" -- "$cur")); return ;;
        --to) COMPREPLY=($(compgen -W "chrome tracy tracy-0.14 html folded speedscope pprof firefox parquet jsonl perfetto otlp" -- "$cur")); return ;;
        --by) COMPREPLY=($(compgen -W "stack function zone pool" -- "$cur")); return ;;
        --sort) COMPREPLY=($(compgen -W "total self count mean min max std p50 p90 p99 name live peak bytes allocs temporary growth" -- "$cur")); return ;;
        --kind)
            COMPREPLY=($(compgen -W "zones spans messages plots frames images vsyncs memory locks sections gpu gpu_events fibers flows callstacks
                samples switches cpus counters notes all threads processes losses records" -- "$cur"))
            return
            ;;
        --pid) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")); return ;;
        --session)
            local folder=${STROBE_DIR:-${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/strobe}}
            COMPREPLY=($(compgen -W "$(ls "${folder:-/dev/shm/strobe-$UID}" 2>/dev/null)" -- "$cur"))
            return
            ;;
        --for | --port | --tracy | --max-memory | --max-file | --flight | --after | --trigger | --limit | --filter | --range | --process) return ;;
    esac

    local options="--help"
    case $command in
        record) options+=" -o --output --ranks --pid --session --for --all --sample --no-sample --memory --locks --max-memory --max-file --policy --python --include --exclude --min-duration --max-depth --c-functions --frameworks --flight --after --trigger --tracy --tracy-announced --tracy-bridge --no-tracy --live --quiet --" ;;
        stats) options+=" --sort --limit --filter --range --process --device --core --from-signpost --to-signpost --spans --stacks --gpu --memory --inclusive --exact --quick --csv --json" ;;
        memory) options+=" --by --sort --top --range --process --blocks --over-time --folded --csv --json" ;;
        locks) options+=" --waits --orders --top --range --process --csv --json" ;;
        top) options+=" --pid --interval --batch --once --limit --" ;;
        view) options+=" --port --web --no-open" ;;
        csv) options+=" --kind --range --process --device --core --from-signpost --to-signpost" ;;
        diff) options+=" --metric --floor --fail-over --format --limit --all --record --runs --output" ;;
        explain) options+=" --zone --from --to --queries --json" ;;
        mcp) options+=" --folder" ;;
        merge) options+=" -o --out" ;;
        cut) options+=" -o --out --range --from --to --process --device --core --from-signpost --to-signpost" ;;
        query) options+=" --tables --format --out --file --timeout --memory --engine --no-shortcut" ;;
        info) options+=" --json --verify" ;;
        export) options+=" -o --out --run --to --range --process --device --from-signpost --to-signpost" ;;
        import) options+=" -o --out --force" ;;
        tracy-bridge) options+=" --port --follow --wait --protocol --no-broadcast --keep" ;;
        tracy-capture) options+=" -o -a -p -f -s -m --version" ;;
        tracy-csvexport) options+=" --unwrap --gpu --messages --plot --self --filter --case --sep --truncated_mean --flavor --version" ;;
        recover) options+=" -o --output --session" ;;
        sessions) options+=" --clean" ;;
        doctor) options+=" --json" ;;
        profile) options+=" -o --output_path -p --port" ;;
        report) options+=" --by-region --region --zone --scope --range --process --device --core --from-signpost --to-signpost --top --csv --json --md --device-stats --device-streams --compare --output-folder --name-append --date --no-date --older-names --mlir --device-only --strict --quiet" ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return
    fi
    case $command in
        import | tracy-csvexport)
            COMPREPLY=($(compgen -f -X '!*.tracy' -- "$cur") $(compgen -f -X '!*.strobe' -- "$cur") $(compgen -f -X '!*profile_log_device.csv' -- "$cur") $(compgen -d -S / -- "$cur"))
            ;;
        info | stats | memory | locks | top | view | csv | query | explain | diff | merge | cut | export | recover | tracy-bridge)
            COMPREPLY=($(compgen -f -X '!*.strobe' -- "$cur") $(compgen -d -S / -- "$cur"))
            [[ ${COMPREPLY[*]} == */ ]] && compopt -o nospace
            ;;
        record) COMPREPLY=($(compgen -W "--" -- "$cur")) ;;
        report) COMPREPLY=($(compgen -f -- "$cur")) ;;
    esac
}
complete -F _strobe strobe

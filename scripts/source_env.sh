# source_env.sh: use the tree without installing it. To be sourced, by bash or zsh:
#     source scripts/source_env.sh && python examples/iree/example.py
# Puts the built package first in PYTHONPATH and the commands first in PATH, once.
strobe_here=${BASH_SOURCE[0]:-${(%):-%x}}
strobe_here=$(cd "$(dirname "$(readlink -f "$strobe_here")")/.." && pwd)
strobe_build=${STROBE_BUILD:-$strobe_here/build}
if [ ! -e "$strobe_build/python/strobe/_strobe.abi3.so" ]; then
    echo "source_env.sh: there is no built package in $strobe_build/python. Build it first:" >&2
    echo "    make -C $strobe_here build" >&2
    unset strobe_here strobe_build
    return 1 2>/dev/null || exit 1
fi
case ":${PYTHONPATH:-}:" in
    *":$strobe_build/python:"*) ;;
    *) export PYTHONPATH="$strobe_build/python:$strobe_here/python/startup${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
case ":$PATH:" in
    *":$strobe_build/bin:"*) ;;
    *) export PATH="$strobe_build/bin:$PATH" ;;
esac
echo "strobe: using $strobe_build/python; record with: strobe record -- python app.py"
unset strobe_here strobe_build

# source_env.sh: use the tree without installing it. To be sourced, by bash or zsh:
#     source scripts/source_env.sh && python examples/iree/example.py
# Puts the built package first in PYTHONPATH and the commands first in PATH, once. The package is that of $STROBE_BUILD, of make, or
# of one of the scripts build-tracy-python*.sh.
strobe_here=${BASH_SOURCE[0]:-${(%):-%x}}
strobe_here=$(cd "$(dirname "$(readlink -f "$strobe_here")")/.." && pwd)
for strobe_build in ${STROBE_BUILD:+"$STROBE_BUILD"} "$strobe_here/build" "$strobe_here/build/wheel" "$strobe_here/build/wheel-client"; do
    if [ -e "$strobe_build/python/strobe/_strobe.abi3.so" ] || [ "$strobe_build" = "${STROBE_BUILD:-}" ]; then
        break
    fi
done
if [ ! -e "$strobe_build/python/strobe/_strobe.abi3.so" ]; then
    echo "source_env.sh: there is no built package in ${STROBE_BUILD:-$strobe_here/build}/python. Build it first:" >&2
    echo "    make -C $strobe_here build, or $strobe_here/build-tracy-python-minimal.sh" >&2
    unset strobe_here strobe_build
    return 1 2>/dev/null || exit 1
fi
case ":${PYTHONPATH:-}:" in
    *":$strobe_build/python:"*) ;;
    *) export PYTHONPATH="$strobe_build/python:$strobe_here/python/startup${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
case ":$PATH:" in
    *":$strobe_build/bin:"*) ;;
    *) [ ! -x "$strobe_build/bin/strobe" ] || export PATH="$strobe_build/bin:$PATH" ;;
esac
if command -v strobe >/dev/null; then
    echo "strobe: using $strobe_build/python; record with: strobe record -- python app.py"
else
    echo "strobe: using $strobe_build/python; this build has no commands: record with a \`strobe record\` of another one"
fi
unset strobe_here strobe_build

# Ends every process of one command. Runs under any POSIX shell on Linux.
#
# Given: $marker    NAME=value, as it stands in the environment of the command's processes
#        $note the file that a command which has not begun yet looks for
#        $begun     1 when the command is known to have begun
#
# No single quote may stand in a line that is sent; comments are not sent. Kept in lists of
# process ids with a space before and after each, so that `case` can look one up.

exec </dev/null 2>/dev/null
LC_ALL=C
export LC_ALL
cd /proc && [ -d $$ ] || exit 1

# The note before the first look: see the cancel check in script.rs. A full or missing
# /tmp only costs what it is for.
true >"$note" || note=

# grep reads 200 environments in the time a shell, which has to read byte by byte, needs for
# two. Not every grep knows -z, so let it prove itself on an environment that is known.
grep=
env A=A "$marker" grep -zxFqs -e "$marker" self/environ && grep=1

# The shell's way to look into one environment; `read` drops the NULs.
carries() {
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *"$marker"*) return 0 ;; esac
  done <"$1/environ"
  return 1
}

# Sets $found to all living processes of the command, each after its parent: those that
# carry the marker, those in $known, and their descendants.
scan() {
  members=$known
  if [ "$grep" ]; then
    for file in $(grep -zxFls -e "$marker" [0-9]*/environ); do
      members="$members${file%/*} "
    done
  fi
  table=
  for pid in [0-9]*; do
    [ "$pid" = $$ ] && continue
    # pid (name) state parent ...: the name may hold anything, a newline too.
    stat=
    while IFS= read -r line || [ -n "$line" ]; do
      stat=$stat$line
    done <"$pid/stat"
    set -- ${stat##*)}
    case $1 in "" | Z | X) continue ;; esac
    table="$table $pid:$2"
    [ "$grep" ] || { carries "$pid" && members="$members$pid "; }
  done
  found=" "
  while :; do
    before=$found
    for entry in $table; do
      pid=${entry%:*} parent=${entry#*:}
      case $found in
        *" $pid "*) continue ;;
        *" $parent "*) found="$found$pid " ;;
        *)
          case $members in
            *" $parent "*) ;;
            *" $pid "*) found="$found$pid " ;;
          esac ;;
      esac
    done
    [ "$found" = "$before" ] && break
  done
  # Left over: members whose parent died while we looked.
  for entry in $table; do
    pid=${entry%:*}
    case $found in *" $pid "*) continue ;; esac
    case $members in *" $pid "*) found="$found$pid " ;; esac
  done
}

# Stops what was found, parents first, until a look finds nothing new: what is stopped can
# neither start another process nor, when its child dies, go on to its next command.
freeze() {
  looks=20
  while [ $looks -gt 0 ]; do
    looks=$((looks - 1))
    new=
    for pid in $found; do
      case $known in *" $pid "*) ;; *) new="$new $pid" ;; esac
    done
    known=$found
    [ "$new" ] || break
    kill -s STOP $new
    scan
  done
}

known=" "
quick=3
seconds=10
while :; do
  scan
  if [ "$found" != " " ]; then
    begun=1
    freeze
    kill -s KILL $found
  elif [ "$begun" ]; then
    break
  elif [ "$note" ] && [ ! -e "$note" ]; then
    # The command found it, and has ended.
    break
  fi
  # Killed processes need a moment, rarely a second, to be gone.
  if [ "$begun" ] && [ $quick -gt 0 ]; then
    quick=$((quick - 1))
  else
    [ $seconds -gt 0 ] || break
    seconds=$((seconds - 1))
    sleep 1
  fi
done
[ "$note" ] && rm -f "$note"
[ "$found" = " " ]

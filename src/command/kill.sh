# Kills the processes that carry the mark $m in their environment, and those that descend
# from one that does; a command that begins later finds the note $t and ends by itself.
# $b: the command has begun for sure.
#
# Builtins only, but for sleep and rm: an image may have no ps, pgrep or grep. `read`
# passes over the NULs between variables in dash, bash and busybox alike.

[ -d /tmp ] || mkdir -p /tmp
: >$t

marked() {
  while IFS= read -r l || [ -n "$l" ]; do
    case $l in *"$m"*) return 0 ;; esac
  done </proc/$1/environ
  return 1
}

# Sets $f to what is to be killed, ancestors before descendants.
scan() {
  a=
  k=" "
  for d in /proc/[0-9]*; do
    p=${d#/proc/}
    s=
    read -r s <$d/stat || continue
    # The name, in parentheses, may hold anything.
    s=${s##*) }
    case $s in [ZX]*) continue ;; esac
    s=${s#* }
    a="$a $p:${s%% *}"
    if marked $p; then k="$k$p "; fi
  done
  f=" "
  n=1
  while [ -n "$n" ]; do
    n=
    for e in $a; do
      p=${e%:*}
      q=${e#*:}
      case $f in *" $p "*) continue ;; esac
      case $f in
        *" $q "*) ;;
        *)
          case $k in *" $q "*) continue ;; *" $p "*) ;; *) continue ;; esac
          ;;
      esac
      f="$f$p "
      n=1
    done
  done
}

# Stops all before it kills any, so that no shell goes on when its child dies and nothing
# is forked between the look and the kill. Fails if there was nothing.
sweep() {
  o=" "
  while :; do
    scan
    n=
    for p in $f; do
      case $o in *" $p "*) ;; *) n="$n $p"; o="$o$p " ;; esac
    done
    [ -n "$n" ] || break
    kill -STOP $n
  done
  [ "$o" != " " ] || return 1
  kill -KILL $f
}

r=1
i=0
h=
while [ $i -lt 10 ]; do
  i=$((i + 1))
  if sweep; then
    [ -z "$h" ] || sleep 1
    h=1
  else
    r=0
    [ -z "$h$b" ] && [ -e $t ] || break
    sleep 1
  fi
done 2>/dev/null
rm -f $t
exit $r

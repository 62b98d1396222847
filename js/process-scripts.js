/**
 * The scripts by which a process lives in a session without a command that runs it. Each process
 * has a directory there:
 *
 * | file | what it holds |
 * |---|---|
 * | `command` | what people read |
 * | `started` | seconds since 1970; there when the process is |
 * | `supervisor` | the id of the process that waits for it |
 * | `out`, `err` | all that it printed |
 * | `in`, `bell`, `stdin`, `eof` | what it was sent; a pipe that tells of more; its stdin; no more |
 * | `status` | its exit code; there when it has ended |
 *
 * Output goes to files straight from the process, so that nothing is lost whoever reads, and any
 * byte can be read again.
 */
import binding from './addon.js';
import { temporary, word } from './words.js';

const ROOT = '.mastra-agentcore/processes';

/** There is no such process: the session was replaced, or it was released. */
export const GONE = 66;
/** The directory cannot be changed to; the status of `cd` is printed. */
export const NO_DIRECTORY = 64;
export const ENDED = 67;
export const CLOSED = 68;
/** Somebody else wrote to its stdin. */
export const NOT_OURS = 69;

const place = pid => temporary(`${ROOT}/${pid}`);

/** $1 its directory, $2 the user's text; env is put in. Waits for the process, says how it ended. */
const supervisor = (shell, env, stdin) => {
  // In a shell of its own: dash would report an end by a signal into the process's stderr.
  const run = `exec env ${[...env, ''].join(' ')}${shell} -c "$2"`;
  const feeder = `{ exec 5<"$1/in" 6<>"$1/bell"
  while :; do
    cat <&5
    [ -e "$1/eof" ] && { cat <&5; exit; }
    read -r line <&6
  done
} >"$1/stdin" 2>/dev/null &
feeder=$!`;
  return `trap "" HUP
${stdin ? feeder : ':'}
(${run} <${stdin ? '"$1/stdin"' : '/dev/null'} >>"$1/out" 2>>"$1/err")
code=$?
${stdin ? 'kill $feeder 2>/dev/null' : ':'}
echo $code >"$1/status.new" && mv "$1/status.new" "$1/status"`;
};

/**
 * Starts a process; sent twice it starts once.
 *
 * @param {object} process
 * @param {string} process.pid plain characters; also its mark
 * @param {string} process.shell
 * @param {string} process.command the user's text
 * @param {string} process.displayed
 * @param {string | undefined} process.cwd
 * @param {[string, string][]} process.env
 * @param {boolean} process.stdin whether it has one
 */
export function spawnScript({ pid, shell, command, displayed, cwd, env, stdin }) {
  const words = env.map(([name, value]) => word(`${name}=${value}`));
  return `umask 077
d=${place(pid)}
mkdir -p ${temporary(ROOT)} || exit 65
if ! mkdir "$d" 2>/dev/null; then
  n=50
  until [ -e "$d/started" ]; do
    [ $n -gt 0 ] || { echo it did not start >&2; exit 65; }
    n=$((n - 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
  exit 0
fi
: >"$d/out"
: >"$d/err"
echo ${word(Buffer.from(displayed).toString('base64'))} >"$d/command"
${stdin ? ': >"$d/in"\nmkfifo "$d/bell" "$d/stdin" || exit 65' : ':'}
${cwd === undefined ? ':' : `(cd ${word(cwd)}) || { code=$?; rm -r "$d"; echo $code; exit ${NO_DIRECTORY}; }\ncd ${word(cwd)}`}
umask 022
env ${binding.markerVariable()}=${pid} ${shell} -c ${word(supervisor(shell, words, stdin))} ${shell} "$d" ${word(command)} </dev/null >/dev/null 2>&1 &
echo $! >"$d/supervisor"
date +%s >"$d/started.new" && mv "$d/started.new" "$d/started"`;
}

/**
 * Prints what a process prints, from these bytes on, until it has ended: lines of `o` or `e` and
 * the bytes as text, at last `x` and the exit code.
 *
 * @param {string} pid
 * @param {{ stdout: number, stderr: number }} from
 * @param {import('./tools.js').Tools} tools
 * @param {number} chunk bytes per line, at most
 */
export function followScript(pid, from, tools, chunk) {
  const nap = tools.has('sleeps-briefly') ? ['0.02', '0.1'] : ['1', '1'];
  const skip = (fd, bytes) => (bytes > 0 ? `dd bs=1 skip=${bytes} count=0 <&${fd} >/dev/null 2>&1` : ':');
  const read = (letter, fd) =>
    `c=$(dd bs=${chunk} count=1 <&${fd} 2>/dev/null | ${tools.lineEncoder})
    [ "$c" ] && echo ${letter} $c && some=1`;
  return `cd ${place(pid)} 2>/dev/null && [ -e started ] || exit ${GONE}
exec 3<out 4<err
${skip(3, from.stdout)}
${skip(4, from.stderr)}
read -r supervisor <supervisor
before= idle=0 lost=0 some=1
while :; do
  end=
  [ -e status ] && end=1
  [ "$end" ] || kill -0 $supervisor 2>/dev/null || lost=$((lost + 1))
  [ -e out ] || exit ${GONE}
  sizes=$(wc -c out err)
  if [ "$some" ] || [ "$sizes" != "$before" ]; then
    before=$sizes some=
    ${read('o', 3)}
    ${read('e', 4)}
  elif [ "$end" ]; then
    read -r code <status
    echo x $code
    exit 0
  elif [ $lost -gt 5 ]; then
    echo x 137
    exit 0
  fi
  if [ "$some" ]; then
    idle=0
  elif [ ! "$end" ]; then
    idle=$((idle + 1))
    if [ $idle -lt 100 ]; then sleep ${nap[0]}; else sleep ${nap[1]}; fi
  fi
done`;
}

/**
 * Appends to a process's stdin; sent twice it is appended once.
 *
 * @param {string} pid
 * @param {number} from how many bytes were sent before
 * @param {Buffer} bytes
 * @param {import('./tools.js').Tools} tools
 */
export function writeScript(pid, from, bytes, tools) {
  const to = from + bytes.length;
  return `cd ${place(pid)} 2>/dev/null || exit ${GONE}
[ -e status ] && exit ${ENDED}
[ -e eof ] && exit ${CLOSED}
if [ "$(wc -c <in)" -eq ${from} ] && (set -C; : >write.${from}) 2>/dev/null; then
  ${tools.print(bytes)} >>in
  for old in write.*; do [ $old = write.${from} ] || rm -f $old; done
else
  n=20
  until [ "$(wc -c <in)" -ge ${to} ]; do
    [ $n -gt 0 ] || exit ${NOT_OURS}
    n=$((n - 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
fi
[ "$(wc -c <in)" -eq ${to} ] || exit ${NOT_OURS}
echo 1<>bell`;
}

/** How many bytes a process was sent. @param {string} pid */
export const sentScript = pid => `cd ${place(pid)} 2>/dev/null || exit ${GONE}
[ -e in ] || exit ${CLOSED}
wc -c <in`;

/** Ends a process's stdin. @param {string} pid */
export const closeScript = pid => `cd ${place(pid)} 2>/dev/null || exit ${GONE}
[ -e status ] && exit ${ENDED}
: >eof
echo 1<>bell`;

/** After a kill: what could not say so itself was killed. @param {string} pid */
export const killedScript = pid => `cd ${place(pid)} 2>/dev/null || exit ${GONE}
[ -e status ] || { echo 137 >status.new && mv status.new status; }
read -r code <status
echo $code`;

/** Says of each process: its id, its exit code or `-`, when it started, its command. */
export function listScript(pid) {
  return `cd ${temporary(ROOT)} 2>/dev/null || exit 0
for p in ${pid ?? '*'}; do
  [ -e $p/started ] || continue
  code=-
  [ -e $p/status ] && read -r code <$p/status
  read -r started <$p/started
  read -r command <$p/command
  stdin=-
  [ -e $p/in ] && stdin=in
  echo $p $code $started $stdin $command
done`;
}

/** Forgets a process that has ended. @param {string} pid */
export const releaseScript = pid => `[ -e ${place(pid)}/status ] && rm -rf ${place(pid)}; exit 0`;

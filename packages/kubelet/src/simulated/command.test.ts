import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { meaningOf } from './command.ts'

const endless = Number.POSITIVE_INFINITY

/** `ms/exit code`; undefined when it is not understood. */
function read(words: readonly string[], env: Readonly<Record<string, string>> = {}): string | undefined {
  const meaning = meaningOf(words, new Map(Object.entries(env)))
  return meaning && `${meaning.run}/${meaning.exitCode}`
}

const inShell = (script: string, env = {}) => read(['sh', '-c', script], env)

describe('the simulation of a command', () => {
  it('understands sleep, true and false', () => {
    assert.equal(read(['sleep', '5']), '5000/0')
    assert.equal(read(['/bin/sleep', '1m']), '60000/0')
    assert.equal(read(['/usr/bin/sleep', '0.25']), '250/0')
    assert.equal(read(['sleep', '1h', '1.5s']), '3601500/0')
    assert.equal(read(['sleep', 'infinity']), `${endless}/0`)
    assert.equal(read(['sleep', 'long']), '0/1')
    assert.equal(read(['sleep']), '0/1')
    assert.equal(read(['true']), '0/0')
    assert.equal(read(['/bin/false']), '0/1')
    assert.equal(read(['echo', 'hello']), '0/0')
    assert.equal(read(['tail', '-f', '/dev/null']), `${endless}/0`)
  })

  it('does not understand other programs', () => {
    for (const words of [
      [],
      ['nginx'],
      ['sh'],
      ['sh', 'run.sh'],
      ['exit', '3'],
      ['tail', 'x'],
      ['/opt/sleep', '5'],
    ])
      assert.equal(read(words), undefined, words.join(' '))
  })

  it('runs the commands of a script in sequence', () => {
    assert.equal(inShell('exit 3'), '0/3')
    assert.equal(inShell('sleep 5; exit 256'), '5000/0')
    assert.equal(inShell('echo "hello world" && sleep 2 && exit 7'), '2000/7')
    assert.equal(inShell('\n# comment\nsleep 1 # and on\nsleep 2;\n\nfalse\n'), '3000/1')
    assert.equal(inShell('false; exit'), '0/1')
    assert.equal(inShell('false || sleep 3'), '3000/0')
    assert.equal(inShell('true || sleep 3; sleep 1'), '1000/0')
    assert.equal(inShell('false && sleep 3 || exit 4'), '0/4')
    assert.equal(inShell('exec sleep 2; exit 9'), '2000/0')
    assert.equal(inShell("bash -c 'sleep 1; exit 2'"), '1000/2')
    assert.equal(read(['/bin/bash', '-c', 'sleep 1; exit 2', 'name']), '1000/2')
    assert.equal(inShell('sleep infinity; exit 1'), `${endless}/0`)
    assert.equal(inShell('date; echo Hello from the Kubernetes cluster'), '0/0')
  })

  it('ignores what is printed, and where', () => {
    assert.equal(
      inShell('echo "it is $(date): $USER [x] *" >&2; echo a#b! > /dev/termination-log; exit 1'),
      '0/1',
    )
    assert.equal(inShell("printf '%s && exit 9' x 2>&1; exit 2"), '0/2')
  })

  it('expands variables from the environment of the container', () => {
    assert.equal(inShell(`sleep $SECS; exit "\${CODE}"`, { SECS: '3', CODE: '4' }), '3000/4')
    assert.equal(inShell('sleep $SECS'), undefined)
    assert.equal(inShell('sleep $SECS', { SECS: '1 2' }), undefined)
  })

  it('stops at the first failure with set -e', () => {
    assert.equal(read(['sh', '-ec', 'false; sleep 5']), '0/1')
    assert.equal(read(['bash', '-eu', '-o', 'pipefail', '-c', 'sleep 1; false; sleep 5']), '1000/1')
    assert.equal(inShell('set -e; false || true; sleep 1; false; sleep 5'), '1000/1')
    assert.equal(inShell('set -e\nfalse && true\nsleep 1'), '1000/0')
  })

  it('never ends for an infinite loop', () => {
    assert.equal(inShell('while true; do date; work; sleep 1; done'), `${endless}/0`)
    assert.equal(inShell('echo hi\nwhile :\ndo sleep 1; done'), `${endless}/0`)
    assert.equal(inShell('while true; do sleep 1; break; done'), undefined)
    assert.equal(inShell('while sleep 1; do work; done'), undefined)
  })

  it('understands nothing as soon as an unknown command would run', () => {
    for (const script of [
      'work',
      'sleep 5; work',
      'sleep 5 &',
      'sleep 5 | work',
      '(sleep 5)',
      'sleep $(seq 5)',
      'echo `sleep 5`',
      'echo "$(sleep 5)"',
      'if true; then exit 1; fi',
      'for i in 1 2; do sleep 1; done',
      'exit $RANDOM',
      'exit -1',
      'sleep "5',
      'sleep 5 &&',
      '; sleep 5',
      'sleep 5 < file',
      'A=1 sleep 5',
    ])
      assert.equal(inShell(script), undefined, script)
    assert.equal(inShell('exit 2; work'), '0/2')
    assert.equal(inShell('true || work'), '0/0')
  })

  it('takes time linear in the length of a script, and skips long ones', () => {
    assert.equal(inShell('sleep 1;'.repeat(1_000)), `${1_000_000}/0`)
    assert.equal(inShell('sleep 1;'.repeat(10_000)), undefined)
    for (const nasty of ['"', '$(date', '\\', "'", '$', ' \\\n'])
      assert.doesNotThrow(() => inShell(nasty.repeat(3_000)))
  })
})

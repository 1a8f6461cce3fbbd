import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { MessageChannel } from '@coxswain/wire'
import { createCommandConversation } from './remote-command.ts'

describe('the input of a command', () => {
  it('makes the client wait while the command does not read it, and none is lost', async () => {
    let sent = 0
    async function* messages(): AsyncGenerator<Uint8Array, void, undefined> {
      for (; sent < 1_000; sent++) yield Uint8Array.of(0, sent & 255)
      yield Uint8Array.of(255, 0)
    }
    const reads = Promise.withResolvers<void>()
    let read = 0
    const { talk } = createCommandConversation({ stdin: true, tty: false }, async ({ stdin }) => {
      await reads.promise
      for await (const chunk of stdin ?? []) {
        assert.equal(chunk[0], read & 255)
        read++
      }
      return 0
    })
    const answers: Uint8Array[] = []
    const channel: MessageChannel = {
      protocol: 'v5.channel.k8s.io',
      messages: messages(),
      send: async message => void answers.push(message),
    }
    const talked = talk(channel)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    assert.ok(sent < 50, `${sent} messages were taken`)
    reads.resolve()
    await talked
    assert.equal(read, 1_000)
    assert.match(new TextDecoder().decode(answers.at(-1)?.subarray(1)), /"status":"Success"/)
  })

  it('does not delay the end of a command that never reads it', async () => {
    let isOver = false
    async function* messages(): AsyncGenerator<Uint8Array, void, undefined> {
      for (let sent = 0; !isOver; sent++) {
        if (sent % 100 === 0) await setImmediate()
        yield Uint8Array.of(0, 1)
      }
    }
    const { talk } = createCommandConversation({ stdin: true, tty: false }, async () => {
      for (let turn = 0; turn < 10; turn++) await setImmediate()
      return 3
    })
    const answers: Uint8Array[] = []
    const channel: MessageChannel = {
      protocol: 'v5.channel.k8s.io',
      messages: messages(),
      send: async message => void answers.push(message),
    }
    await talk(channel)
    isOver = true
    assert.match(new TextDecoder().decode(answers[0]?.subarray(1)), /"reason":"NonZeroExitCode"/)
  })
})

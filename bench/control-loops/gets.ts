import type { Access } from '../apiserver/access.ts'
import { Http2Connection } from '../apiserver/http2-connection.ts'

const gapMilliseconds = 5

/** Asks 200 times a second, whether or not answers have come, until `during` has ended. Gives the 99th percentile of what they took, in milliseconds. */
export async function p99OfGets(access: Access, path: string, during: Promise<unknown>): Promise<number> {
  const connection = await Http2Connection.open(access)
  const took: number[] = []
  const failures: Error[] = []
  const waiting = new Set<Promise<void>>()
  const ask = () => {
    const asked = performance.now()
    const answered = new Promise<void>(resolve => {
      connection.send('GET', path, {
        onStatus: status => {
          if (status !== 200) failures.push(new Error(`a get was answered ${status}`))
        },
        onEnd: error => {
          if (error) failures.push(error)
          took.push(performance.now() - asked)
          waiting.delete(answered)
          resolve()
        },
      })
    })
    waiting.add(answered)
  }
  const timer = setInterval(ask, gapMilliseconds)
  try {
    await during
  } finally {
    clearInterval(timer)
    await Promise.all(waiting)
    connection.close()
  }
  if (failures[0]) throw failures[0]
  took.sort((a, b) => a - b)
  return took[Math.floor(took.length * 0.99)] ?? Number.NaN
}

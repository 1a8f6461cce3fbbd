import { type Filling, grow } from './grow.ts'
import type { Target } from './samples.ts'
import type { Answer, TestServer } from './server.ts'
import type { Spot } from './spots.ts'
import { type Effort, measureEffort } from './turns.ts'

/** One request with a spot that has grown, and what it took. */
export interface Played extends Effort {
  readonly verb: string
  readonly status: number
  /** Of a failure on the server's side. */
  readonly message: string
}

/** A spot, what it is filled with, and how far. */
export interface Growth {
  readonly target: Target
  readonly spot: Spot
  readonly filling: Filling
  readonly bytes: number
}

const patches = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

/**
 * Sends the object in every way that a client can: to be created on trial and, where it is taken, in earnest; to replace
 * one that has grown as much and differs in every element, or the smallest one; and as patches of it.
 */
export async function play(server: TestServer, { target, spot, filling, bytes }: Growth): Promise<Played[]> {
  const { path, version, sample } = target
  const played: Played[] = []
  const body = (turn: number, more?: object) => {
    const { metadata } = sample as { metadata: object }
    return grow(more ? { ...sample, metadata: { ...metadata, ...more } } : sample, spot, {
      filling,
      bytes,
      turn,
    })
  }
  const send = async (verb: string, request: Parameters<TestServer['send']>[0]): Promise<number> => {
    let answer: Answer = { status: 0, body: new Uint8Array() }
    const effort = await measureEffort(async () => {
      answer = await server.send(request)
    })
    const { status, body } = answer
    const message =
      status < 500 ? '' : (JSON.parse(Buffer.from(body).toString()) as { message: string }).message
    played.push({ verb, status, message, ...effort })
    return status
  }
  const isStatus =
    spot.steps[0]!.key === 'status' && version.subresources.some(({ name }) => name === 'status')
  const name = (sample as { metadata: { name: string } }).metadata.name
  const object = `${path}/${name}`
  const grown = body(0)
  if (!isStatus) {
    const status = await send('dry run', { method: 'POST', path, query: 'dryRun=All', body: grown })
    if (!version.verbs.includes('update')) return played
    const accepted = status === 201 && (await send('create', { method: 'POST', path, body: grown })) === 201
    if (!accepted) await server.send({ method: 'POST', path, body: Buffer.from(JSON.stringify(sample)) })
  } else await server.send({ method: 'POST', path, body: Buffer.from(JSON.stringify(sample)) })
  const written = isStatus ? `${object}/status` : object
  if (isStatus)
    await send('status', { method: 'PUT', path: written, body: body(0, await versionOf(server, object)) })
  await send('update', { method: 'PUT', path: written, body: body(1, await versionOf(server, object)) })
  // Patches read a string as every other write does.
  if (spot.form === 'string') {
    await remove(server, object)
    return played
  }
  const query = 'fieldManager=growth&force=true'
  await send('apply', { method: 'PATCH', path: written, query, type: patches.apply, body: grown })
  const type = target.info.group.endsWith('growth.example.com') ? patches.merge : patches.strategic
  await send('patch', { method: 'PATCH', path: written, type, body: body(2) })
  await remove(server, object)
  return played
}

async function remove(server: TestServer, path: string): Promise<void> {
  const { status } = await server.send({ method: 'DELETE', path, query: 'gracePeriodSeconds=0' })
  if (status === 404) return
  // Finalizers keep it.
  const free = { metadata: { finalizers: null }, spec: { finalizers: null } }
  await server.send({ method: 'PATCH', path, type: patches.merge, body: Buffer.from(JSON.stringify(free)) })
}

async function versionOf(server: TestServer, path: string): Promise<object> {
  const { status, body } = await server.send({ method: 'GET', path })
  if (status !== 200) return {}
  const { metadata } = JSON.parse(Buffer.from(body).toString()) as { metadata: { resourceVersion: string } }
  return { resourceVersion: metadata.resourceVersion }
}

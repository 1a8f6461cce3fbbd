import type { JsonObject } from '@coxswain/apimachinery/json'
import { formatTime } from '@coxswain/apimachinery/time'
import type { Env } from '@coxswain/kit'
import { encodeStored } from '../cache/stored-object.ts'
import type { StorePorts } from './ports.ts'

export interface MissingPorts extends StorePorts {
  readonly env: Env
}

/** Creates an object of the server's own, without the write pipeline, unless there is one of its name. */
export async function createMissing(
  ports: MissingPorts,
  prefix: string,
  name: string,
  make: (metadata: JsonObject) => JsonObject,
): Promise<void> {
  const { clock, random } = ports.env
  const key = prefix + name
  if (ports.cache.resource(prefix).get(key)) return
  const object = make({ name, uid: random.uuid(), creationTimestamp: formatTime(clock.now()) })
  const result = await ports.store.transact({
    conditions: [{ key, modRevision: 0 }],
    operations: [{ type: 'put', key, value: encodeStored(object) }],
  })
  await ports.cache.waitFor(result.revision)
}

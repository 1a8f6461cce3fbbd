/** The thread that parses large YAML: receives `{ id, bytes }`, replies with JSON or an error. */
import { parentPort } from 'node:worker_threads'
import { isMachineryError, type MachineryErrorCode } from '@coxswain/apimachinery/errors'
import { writeJsonBytes } from '@coxswain/apimachinery/json'
import { readYaml } from '@coxswain/apimachinery/yaml'

export interface YamlQuestion {
  readonly id: number
  readonly bytes: Uint8Array
}

export type YamlAnswer = { readonly id: number } & (
  | { readonly json: Uint8Array; readonly problems: readonly string[] }
  | { readonly code: MachineryErrorCode | undefined; readonly message: string }
)

parentPort!.on('message', ({ id, bytes }: YamlQuestion) => {
  const answer = read(id, bytes)
  parentPort!.postMessage(answer, 'json' in answer ? [answer.json.buffer as ArrayBuffer] : [])
})

function read(id: number, bytes: Uint8Array): YamlAnswer {
  try {
    const { value = null, problems = [] } = readYaml(bytes) ?? {}
    return { id, json: writeJsonBytes(value), problems }
  } catch (error) {
    const code = isMachineryError(error) ? error.code : undefined
    return { id, code, message: error instanceof Error ? error.message : String(error) }
  }
}

import { MachineryError } from '../errors.ts'

/** The error of input that is no protobuf message of the expected kind. */
export function malformed(reason: string): MachineryError {
  return new MachineryError('BadProtobuf', `proto: ${reason}`)
}

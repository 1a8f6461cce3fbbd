import { MachineryError } from '../errors.ts'

/** The error for input that is not a protobuf message of the expected kind. */
export function malformed(reason: string): MachineryError {
  return new MachineryError('BadProtobuf', `proto: ${reason}`)
}

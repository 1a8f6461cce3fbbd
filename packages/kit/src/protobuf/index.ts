/** The primitive types of protobuf: tags, numbers, bytes and text. Messages are left to callers. */
export { ProtobufReader } from './reader.ts'
export { BackwardWriter } from './writer.ts'

/** The primitive forms of protobuf: tags, numbers, bytes and text. What messages mean is for those who use them. */
export { ProtobufReader } from './reader.ts'
export { BackwardWriter } from './writer.ts'

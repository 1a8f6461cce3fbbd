export {
  createProtobufCodec,
  type DefaultKind,
  type ListEncoder,
  type ListHead,
  type ProtobufCodec,
  protobufMediaType,
  type WatchEventObject,
} from './codec.ts'
export { frame, readFrames } from './frames.ts'
export type {
  ElementType,
  FieldType,
  Message,
  MessageField,
  MessageSource,
  ScalarType,
  WellKnownType,
} from './message.ts'

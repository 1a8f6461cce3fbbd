/** JSON patch, merge patch and strategic merge patch. */
export {
  applyJsonPatch,
  decodeJsonPatch,
  type JsonPatchOperation,
  unknownJsonPatchFields,
} from './json-patch.ts'
export { applyMergePatch, createMergePatch, decodeMergePatch } from './merge-patch.ts'
export {
  createThreeWayMergePatch,
  createTwoWayMergePatch,
  type ThreeWayOptions,
  type TwoWayOptions,
} from './strategic-diff.ts'
export { applyStrategicMergePatch, decodeStrategicMergePatch } from './strategic-merge.ts'

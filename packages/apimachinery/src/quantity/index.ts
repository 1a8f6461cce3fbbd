/** Quantities: `100m`, `1Gi`. */
export { canonicalizeQuantity, isQuantity, parseQuantity, Quantity } from './quantity.ts'

import { Quantity } from '@coxswain/apimachinery/quantity'
import { type Library, overload } from '../functions.ts'
import { opaqueOf } from '../types.ts'
import { CelDouble, fault, type OpaqueValue, toInt, type Value } from '../values.ts'

export const quantityType: ReturnType<typeof opaqueOf> = opaqueOf('kubernetes.Quantity')

export class QuantityValue implements OpaqueValue {
  readonly celType: typeof quantityType = quantityType
  readonly quantity: Quantity
  constructor(quantity: Quantity) {
    this.quantity = quantity
  }
  equals(other: Value): boolean {
    return other instanceof QuantityValue && this.quantity.equals(other.quantity)
  }
}

function parse(text: string): Quantity | string {
  try {
    return Quantity.parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function toQuantity(text: string): QuantityValue {
  const parsed = parse(text)
  return typeof parsed === 'string' ? fault(parsed) : new QuantityValue(parsed)
}

const ofInt = (value: number | bigint): Quantity => Quantity.of(BigInt(value), { format: 'DecimalExponent' })
const q = 'kubernetes.Quantity'

export const quantityLibrary: Library = {
  name: 'kubernetes.quantity',
  types: [quantityType],
  overloads: [
    overload('string_to_quantity', `quantity(string): ${q}`, toQuantity),
    overload(
      'is_quantity_string',
      'isQuantity(string): bool',
      (text: string) => typeof parse(text) !== 'string',
    ),
    overload('quantity_sign', `sign(${q}): int`, (a: QuantityValue) => a.quantity.sign),
    overload(
      'quantity_is_greater_than',
      `isGreaterThan(this ${q}, ${q}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compare(b.quantity) > 0,
    ),
    overload(
      'quantity_is_less_than',
      `isLessThan(this ${q}, ${q}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compare(b.quantity) < 0,
    ),
    overload('quantity_compare_to', `compareTo(this ${q}, ${q}): int`, (a: QuantityValue, b: QuantityValue) =>
      a.quantity.compare(b.quantity),
    ),
    overload(
      'quantity_get_float',
      `asApproximateFloat(this ${q}): double`,
      (a: QuantityValue) => new CelDouble(a.quantity.toNumber()),
    ),
    overload('quantity_get_int', `asInteger(this ${q}): int`, (a: QuantityValue) => {
      const value = a.quantity.asInt64()
      return value === undefined ? fault('cannot convert value to integer') : toInt(value)
    }),
    overload(
      'quantity_is_integer',
      `isInteger(this ${q}): bool`,
      (a: QuantityValue) => a.quantity.asInt64() !== undefined,
    ),
    overload(
      'quantity_add',
      `add(this ${q}, ${q}): ${q}`,
      (a: QuantityValue, b: QuantityValue) => new QuantityValue(a.quantity.add(b.quantity)),
    ),
    overload(
      'quantity_add_int',
      `add(this ${q}, int): ${q}`,
      (a: QuantityValue, b: number | bigint) => new QuantityValue(a.quantity.add(ofInt(b))),
    ),
    overload(
      'quantity_sub',
      `sub(this ${q}, ${q}): ${q}`,
      (a: QuantityValue, b: QuantityValue) => new QuantityValue(a.quantity.subtract(b.quantity)),
    ),
    overload(
      'quantity_sub_int',
      `sub(this ${q}, int): ${q}`,
      (a: QuantityValue, b: number | bigint) => new QuantityValue(a.quantity.subtract(ofInt(b))),
    ),
  ],
}

/** Our half of the comparison with upstream: not part of the package, used by its test and by `tools/oracle`. */
import { Quantity } from '../quantity/quantity.ts'

export interface QuantityQuestion {
  readonly a: string
  readonly b?: string
  readonly factor?: string
  readonly scale: number
}

function factsOf(quantity: Quantity): Record<string, unknown> {
  const int64 = quantity.asInt64()
  return {
    text: quantity.toString(),
    format: quantity.format,
    sign: quantity.sign,
    value: String(quantity.value),
    milli: String(quantity.milliValue),
    ...(int64 !== undefined && { int64: String(int64) }),
  }
}

function parse(text: string): Quantity | string {
  try {
    return Quantity.parse(text)
  } catch (error) {
    return (error as Error).message
  }
}

export function answerQuantity({ a: textA, b: textB, factor, scale }: QuantityQuestion): unknown {
  const a = parse(textA)
  if (typeof a === 'string') return { error: a }
  const answer: Record<string, unknown> = {
    a: factsOf(a),
    rounded: factsOf(a.roundUp(scale)),
    scaled: String(a.scaledValue(scale)),
    negated: factsOf(a.negate()),
  }
  if (factor) answer.product = factsOf(a.multiply(BigInt(factor)))
  if (!textB) return answer
  const b = parse(textB)
  if (typeof b === 'string') return { ...answer, errorB: b }
  return {
    ...answer,
    cmp: a.compare(b),
    sum: factsOf(a.add(b)),
    difference: factsOf(a.subtract(b)),
  }
}

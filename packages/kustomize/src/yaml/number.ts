/** A float as Go's `%g` shows it, with the fewest digits that read back as the same number. */
export function printGoFloat(value: number): string {
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= 6) {
    const digits = String(Math.abs(exponent)).padStart(2, '0')
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`
  }
  return Object.is(value, -0) ? '-0' : value.toFixed(Math.max(0, fractionDigits(mantissa) - exponent))
}

const fractionDigits = (mantissa: string): number => mantissa.split('.')[1]?.length ?? 0

/** A number as it stands in the output, after it went through JSON: whole numbers that fit 64 bits have no exponent. */
export function printNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return value.toString()
  if (!Number.isInteger(value)) return printGoFloat(value)
  if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value)
  if (value < 2 ** 64 && value >= -(2 ** 63)) return BigInt(value).toString()
  return printGoFloat(value)
}

/** How Go prints and parses values, as Kubernetes' messages show them. */
export { goPrint } from './go-print.ts'
export { parseInt64 } from './parse-int.ts'
export { compareCodePoints, escapeHtml, printFloat, printJson } from './print-value.ts'
export { quoteAll } from './quote.ts'

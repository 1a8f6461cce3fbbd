/** How Go prints and reads values: what Kubernetes' messages are made of. */
export { goPrint } from './go-print.ts'
export { parseInt64 } from './parse-int.ts'
export { escapeHtml, printFloat, printJson } from './print-value.ts'
export { quoteAll } from './quote.ts'

/** The budgets of Kubernetes, in cost units. */
export const costLimits: {
  /** The static estimate of one validation rule. */
  readonly perRule: number
  /** The sum of the static estimates of a CustomResourceDefinition. */
  readonly perDefinition: number
  /** The run-time cost of evaluating one expression. */
  readonly perCall: number
  /** The run-time cost of all rules of one object. */
  readonly perObject: number
} = { perRule: 10_000_000, perDefinition: 100_000_000, perCall: 1_000_000, perObject: 10_000_000 }

/** The options of `chart`. */
export interface ChartOptions {
  readonly out: string
  readonly from: string
  readonly name?: string
  readonly chartVersion?: string
  readonly check: boolean
}

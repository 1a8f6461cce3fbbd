/**
 * A Helm chart from the manifests of a project.
 *
 *   objects of config/default ── names, namespace, labels of the release ── values ─► Chart.yaml, values.yaml, templates/
 *
 * Charts are written, never rendered: Helm does that.
 * @module
 */
export { type ChartInput, generateChart } from './generate-chart.ts'

/**
 * The files of a project on a disk: compared, and written as a whole.
 * @module
 */
export { compareFiles, type FileDifference } from './compare-files.ts'
export { type ChartChange, type ChartPlan, planChart } from './write-chart.ts'
export { type WriteFilesOptions, writeFiles } from './write-files.ts'

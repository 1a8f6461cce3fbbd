import type { Command } from 'commander'
import { addSubcommand } from '../subcommand.ts'
import type { ChartOptions } from './options.ts'

/** Adds `chart`. */
export function addChart(program: Command): void {
  addSubcommand(program, 'chart')
    .description("Write a Helm chart from the project's manifests.")
    .option('--out <dir>', 'the folder of the chart', 'dist/chart')
    .option(
      '--from <path>',
      'the manifests: a folder with a kustomization, a YAML file, or - for standard input',
      'config/default',
    )
    .option(
      '--name <name>',
      "the chart's name, and what the names of objects begin with (default: PROJECT's projectName, package.json's name)",
    )
    .option('--chart-version <version>', "the chart's version (default: package.json's, or 0.1.0)")
    .option('--check', 'write nothing, and fail when a file is missing or stale', false)
    .addHelpText('after', chartHelp)
    .action(async (options: ChartOptions) => {
      const { runChart } = await import('./chart.ts')
      await runChart(options)
    })
}

const chartHelp = `
The chart has the layout of kubebuilder's. Names, namespace and labels are those of the release; values.yaml switches on and off:
  manager          image, replicas, args, env, resources, security contexts, nodeSelector, tolerations, affinity
  rbac             enable, namespaced (Roles instead of ClusterRoles), helpers (admin, editor and viewer roles)
  serviceAccount   enable, name, annotations
  crd              enable, keep (CustomResourceDefinitions stay after helm uninstall)
  metrics, webhook, certManager, prometheus, networkPolicy

Files that you change are yours: they are not overwritten. When the generated text changes, too, it is written beside them as FILE.new, for
you to merge. .coxswain-chart.json records what was generated; commit it with the chart.

Examples:
  coxswain manifests && coxswain chart
  coxswain chart --from dist/install.yaml --out charts/greeter --name greeter
  coxswain chart --check
  helm install greeter dist/chart --namespace greeter-system --create-namespace

Exit codes: 0 written or up to date, 1 failure or stale (--check), 2 bad usage.`

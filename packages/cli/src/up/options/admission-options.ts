import { type Command, Option } from 'commander'

/** The admission flags of `coxswain up`; the names are kube-apiserver's. */
export interface AdmissionFlags {
  readonly enableAdmissionPlugins?: readonly string[]
  readonly disableAdmissionPlugins?: readonly string[]
  readonly admissionControlConfigFile?: string
}

export function addAdmissionOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--enable-admission-plugins <list>',
        'plug-ins to enable in addition to the default ones; the order does not matter',
      ).argParser(appendList),
    )
    .addOption(
      new Option(
        '--disable-admission-plugins <list>',
        'default plug-ins to disable; the order does not matter',
      ).argParser(appendList),
    )
    .option(
      '--admission-control-config-file <file>',
      'AdmissionConfiguration: settings of plug-ins, credentials for webhooks',
    )
}

function appendList(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(',').map(item => item.trim())].filter(item => item !== '')
}

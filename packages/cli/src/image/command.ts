import { type Command, Option } from 'commander'
import { addSubcommand } from '../subcommand.ts'
import type { ImageBuildOptions } from './options.ts'

/** The base image when none is named. */
export const defaultBase = 'docker.io/library/node:26-slim'

/** Adds `image build` and `image push`. */
export function addImage(program: Command): void {
  const image = addSubcommand(program, 'image').description(
    'Build and push the image of an operator, without Docker.',
  )
  addSubcommand(image, 'build')
    .description('Build an OCI image of a project: its operators, their production dependencies, and Node.')
    .argument('[dir]', 'the folder of the project, with its package.json', '.')
    .option('--tag <name...>', 'name of the image, [HOST/]REPOSITORY[:TAG]; may be repeated')
    .addOption(
      new Option('--base <name>', 'base image: a name, oci:DIR, oci:FILE.tar or scratch')
        .default(defaultBase)
        .env('COXSWAIN_IMAGE_BASE'),
    )
    .option(
      '--platform <list>',
      'comma-separated, such as linux/amd64,linux/arm64 (default: linux and the processor of this machine)',
    )
    .option(
      '--output <path>',
      'write an OCI layout to a folder, or an archive to FILE.tar (also for docker load)',
    )
    .option('--push', 'push it under every tag', false)
    .option(
      '--sbom <file>',
      'write the bill of materials (SPDX 2.3); with --push it is attached to the image, too',
    )
    .option('--label <key=value...>', 'label of the image; may be repeated')
    .addOption(insecureOption())
    .option(
      '--config <file>',
      'configuration file that names the operators (default: coxswain.config.ts of the folder)',
    )
    .addHelpText('after', buildHelp)
    .action(async (folder: string, options: ImageBuildOptions) => {
      const { runImageBuild } = await import('./image-build.ts')
      await runImageBuild(folder, options)
    })
  addSubcommand(image, 'push')
    .description('Push an OCI layout, a folder or an archive, to registries.')
    .argument('<path>', 'a folder or FILE.tar that image build has written')
    .argument('<name...>', '[HOST/]REPOSITORY[:TAG]')
    .addOption(insecureOption())
    .addHelpText('after', pushHelp)
    .action(
      async (path: string, names: string[], options: { readonly insecureRegistry?: readonly string[] }) => {
        const { runImagePush } = await import('./image-push.ts')
        await runImagePush(path, names, options.insecureRegistry ?? [])
      },
    )
}

const insecureOption = () =>
  new Option(
    '--insecure-registry <host...>',
    'registry whose certificate is not verified, or that has no TLS; those on loopback addresses need no mention',
  )

const buildHelp = `
The layers are base, dependencies, linked packages (workspaces, file:) and code: a change of code pushes one small layer. Files that .dockerignore
excludes, or without one .gitignore, stay out; so do node_modules of development, .git, .env, kubeconfigs and private keys. The image runs
"coxswain run" with the operators of coxswain.config.ts, or operator.ts, as user 65532; args of a container replace them.

The same files, base image and Node give the same digest. Times are those of SOURCE_DATE_EPOCH, or 1970. Credentials are found as by docker:
REGISTRY_AUTH_FILE, DOCKER_CONFIG, ~/.docker/config.json and its helpers. Prints the name and digest of what was pushed or written.

Examples:
  coxswain image build --tag registry.example.com/team/greeter:1.0 --push
  coxswain image build --platform linux/amd64,linux/arm64 --tag localhost:5000/greeter --push --sbom dist/sbom.json
  coxswain image build --tag greeter:dev --output greeter.tar && podman load -i greeter.tar
  coxswain image build --base oci:base --output dist/image

Exit codes: 0 built, 1 failure: nothing was written, and no name was pushed, 2 bad usage.`

const pushHelp = `
Layers that the registry has are not sent again. Manifests are pushed as they are, so the digest stays the same.

Examples:
  coxswain image push dist/image registry.example.com/team/greeter:1.0
  coxswain image push greeter.tar localhost:5000/greeter:dev localhost:5000/greeter:latest

Exit codes: 0 pushed, 1 failure: no name was pushed, 2 bad usage.`

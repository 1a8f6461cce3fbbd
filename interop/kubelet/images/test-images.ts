/** The images of the suite, made of programs of the cache: those that upstream's tests name, and CoreDNS. */
import { chmod, copyFile, cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { componentPath } from '../../../tools/components/index.ts'
import { kubernetesSource } from '../../../tools/components/kubernetes.ts'
import { runOrFail } from '../../../tools/components/process.ts'
import { type ImageConfig, type Layer, writeImage, writeLayer } from './oci-image.ts'

/** The sandbox image of containerd. */
export const pauseImage = 'registry.k8s.io/pause:3.10.2'
export const corednsImage = 'registry.k8s.io/coredns/coredns:v1.14.0'
export const agnhostImage = 'registry.k8s.io/e2e-test-images/agnhost:2.63.0'
export const busyboxImage = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-1'

const accounts = {
  'etc/passwd': [
    'root:x:0:0:root:/root:/bin/sh',
    'user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh',
  ],
  'etc/group': [
    'root:x:0:',
    'user-defined-in-image:x:1000:',
    'group-defined-in-image:x:50000:user-defined-in-image',
  ],
  'etc/nsswitch.conf': ['hosts: files dns'],
  // Upstream's images are made from Alpine Linux, and a test of image volumes looks for the name.
  'etc/os-release': ['NAME="Stand-in for Alpine Linux"', 'ID=coxswain-test'],
}

/** Writes every image to the store. */
export async function writeTestImages(store: string): Promise<void> {
  await mkdir(store, { recursive: true })
  const layer = async (fill: (folder: string) => Promise<void>): Promise<Layer> => {
    const folder = await mkdtemp(join(store, 'layer-'))
    try {
      await chmod(folder, 0o755)
      await fill(folder)
      return await writeLayer(store, folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  const image = (config: ImageConfig, layers: readonly Layer[], ...names: string[]) =>
    writeImage(store, { names, layers, config })
  const source = join(await kubernetesSource(), 'test/images')

  const busybox = await layer(writeBusybox)
  await image({ Cmd: ['sh'] }, [busybox], 'e2e-test-images/busybox:1.37.0-1')
  await image({ Cmd: ['sh'], User: '1234' }, [busybox], 'e2e-test-images/nonroot:1.5')
  const escalating = await layer(async folder => {
    await mkdir(join(folder, 'usr/local/bin'), { recursive: true })
    await copyFile(componentPath('nonewprivs-1.36'), join(folder, 'usr/local/bin/nnp'))
    await chmod(join(folder, 'usr/local/bin/nnp'), 0o4755)
  })
  await image({ Cmd: ['nnp'] }, [busybox, escalating], 'e2e-test-images/nonewprivs:1.4')
  const web = await layer(folder =>
    writeFiles(folder, { 'usr/share/nginx/html/index.html': ['<h1>Welcome to nginx!</h1>'] }),
  )
  const serveWeb = { Cmd: ['httpd', '-f', '-p', '80', '-h', '/usr/share/nginx/html'] }
  await image(serveWeb, [busybox, web], 'e2e-test-images/nginx:1.15-4', 'e2e-test-images/nginx:1.27-0')

  const tree = await layer(async folder => {
    await cp(componentPath('image-tree'), folder, { recursive: true, verbatimSymlinks: true })
    await rm(join(folder, 'usr/share'), { recursive: true })
    await rename(join(folder, 'bin/nc.openbsd'), join(folder, 'usr/bin/nc'))
    await rm(join(folder, 'bin'), { recursive: true })
  })
  await image({ Cmd: ['sh'] }, [busybox, tree], 'e2e-test-images/glibc-dns-testing:2.0.0')
  const agnhost = await layer(async folder => {
    await copyFile(componentPath('agnhost-1.36'), join(folder, 'agnhost'))
    await symlink('agnhost', join(folder, 'agnhost-2'))
    await mkdir(join(folder, 'uploads'))
    for (const file of ['localhost.crt', 'localhost.key'])
      await copyFile(join(source, 'agnhost/porter', file), join(folder, file))
  })
  const onAgnhost = [busybox, tree, agnhost]
  const agnhostNames = ['e2e-test-images/agnhost:2.63.0', 'e2e-test-images/agnhost:2.55']
  await image({ Entrypoint: ['/agnhost'], Cmd: ['pause'] }, onAgnhost, ...agnhostNames)
  for (const animal of ['kitten', 'nautilus']) {
    const pictures = await layer(folder => cp(join(source, animal, 'html'), folder, { recursive: true }))
    const config = { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'] }
    await image(config, [...onAgnhost, pictures], `e2e-test-images/${animal}:1.8`)
  }

  const program = (component: 'pause' | 'coredns') =>
    layer(folder => copyFile(componentPath(component), join(folder, component)))
  await image({ Entrypoint: ['/pause'], User: '65535:65535' }, [await program('pause')], 'pause:3.10.2')
  await image({ Entrypoint: ['/coredns'] }, [await program('coredns')], 'coredns/coredns:v1.14.0')
}

/**
 * One program under all its names, and the accounts of upstream's images. The shell is another one: Debian's busybox keeps
 * variables with a dash in their names from the programs that it starts.
 */
async function writeBusybox(folder: string): Promise<void> {
  const program = join(componentPath('image-tree'), 'bin/busybox')
  await mkdir(join(folder, 'bin'))
  await copyFile(join(componentPath('image-tree'), 'bin/bash-static'), join(folder, 'bin/bash'))
  await copyFile(program, join(folder, 'bin/busybox'))
  const names = (await runOrFail(program, ['--list'])).split('\n').filter(name => name !== '')
  for (const name of names.map(each => basename(each)))
    if (name !== 'busybox' && name !== 'bash')
      await symlink(name === 'sh' ? 'bash' : 'busybox', join(folder, 'bin', name))
  await writeFiles(folder, accounts)
  for (const name of ['root', 'home', 'var', 'usr', 'usr/bin', 'home/user-defined-in-image'])
    await mkdir(join(folder, name), { recursive: true })
  await mkdir(join(folder, 'tmp'))
  await chmod(join(folder, 'tmp'), 0o1777)
}

async function writeFiles(folder: string, files: Readonly<Record<string, readonly string[]>>): Promise<void> {
  for (const [name, lines] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), `${lines.join('\n')}\n`)
  }
}

import type { Command } from 'commander'
export function addChart(_program: Command): void {}

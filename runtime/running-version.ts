import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './project-root.ts';

const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};

/** Running versions of the service and of Node, without a `v`. */
export const RUNNING_VERSION = { release: version, node: process.versions.node } as const;

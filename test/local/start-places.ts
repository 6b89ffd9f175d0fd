import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';

/** A node of another chain than the one of the file, for one test. */
export async function otherChain(): Promise<Anvil> {
  const other = await startAnvil({ chainId: 5 });
  onTestFinished(() => other.stop());
  return other;
}

/** A new folder, which Postgres may enter. */
export async function openFolder(parent: string, name: string): Promise<string> {
  const folder = await mkdtemp(join(parent, name));
  await chmod(folder, 0o755);
  return folder;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from '../processes/progress.ts';

/** Until the index is complete. */
export async function showSync(api: string, progress: Progress): Promise<void> {
  for (;;) {
    const r = await fetch(`${api}/ready`).catch(() => null);
    progress.print(r ? await r.text() : 'none');
    if (r?.ok) return;
    await sleep(2_000);
  }
}

import type { Pool } from '../api.ts';
import { REASONS, reasonOf, STATUSES, TIERS } from '../glossary-terms.ts';

type Status = keyof typeof STATUSES;

/** Shows a status as a word with a colour. The colour never says more than the word. */
export function StatusChip({ status }: { readonly status: Status }) {
  const { label, meaning } = STATUSES[status];
  const tone =
    status === 'healthy' ? 'good' : status === 'pool_paused' ? 'warn' : status === 'unknown' ? 'mute' : 'bad';
  return (
    <a class={`chip ${tone}`} href={`/glossary#${status}`} title={meaning}>
      <span class="word">{label}</span>
    </a>
  );
}

const TONES = { green: 'good', yellow: 'warn', red: 'bad', unclassified: 'mute', black: 'bad' } as const;

export function TierChip({ tier }: { readonly tier: Pool['classificationSummary']['tierQualification'] }) {
  const { label, meaning } = TIERS[tier];
  return (
    <a class={`chip tier ${TONES[tier]}`} href={`/glossary#${tier}`} title={meaning}>
      <span class="word">{label}</span>
    </a>
  );
}

/** Lists the reasons why a pool is not green, each linked to its meaning. */
export function Reasons({ codes }: { readonly codes: readonly string[] }) {
  if (codes.length === 0) return null;
  return (
    <span class="reasons">
      {codes.map((code) => (
        <a key={code} href={code in REASONS ? `/glossary#${code}` : '/glossary'} title={reasonOf(code).meaning}>
          {reasonOf(code).label}
        </a>
      ))}
    </span>
  );
}

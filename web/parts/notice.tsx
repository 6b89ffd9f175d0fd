import type { ComponentChildren } from 'preact';

type NoticeProps = { readonly tone?: 'mute' | 'bad'; readonly children: ComponentChildren };

/** Says that something went wrong, or that there is nothing to show. */
export function Notice({ tone = 'mute', children }: NoticeProps) {
  return (
    <p class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </p>
  );
}

/** Grey bars in the place of what is loading. */
export function Skeleton({ lines }: { readonly lines: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

import type { ComponentChildren } from 'preact';

/** Lets a table that is wider than a phone scroll sideways by itself. */
export const Scroll = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without a mouse, only what has the focus can be scrolled.
  <section class="scroll" aria-label={label} tabIndex={0}>
    {children}
  </section>
);

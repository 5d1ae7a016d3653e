/** Parts shared by the details in the inbox. */
import type { ComponentChildren, RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { announce } from '../parts/announce.tsx';
import { Time } from '../parts/time.tsx';
import { Glyph, type Identity, Name } from '../parts/who.tsx';
import { type Action, useAction } from '../state/action.ts';
import { readNeeds } from '../state/needs.ts';
import { hrefOf } from '../state/route.ts';

/** @param children what `who` did; follows their name */
export const Heading = (props: {
  who: Identity;
  at: string;
  title: ComponentChildren;
  titleRef?: RefObject<HTMLHeadingElement | null>;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) => (
  <>
    <div class="row w q2 by">
      <Glyph who={props.who} size={28} />
      <Name who={props.who} />
      <span>{props.children}</span>
      <span class="q">
        <Time at={props.at} words />
      </span>
      {props.aside}
    </div>
    <h1 id="inbox-title" tabIndex={-1} ref={props.titleRef}>
      {props.title}
    </h1>
  </>
);

/** Whether the details with this title are shown: on a narrow window the list covers them until one is opened. */
export const isShown = (title: RefObject<HTMLElement | null>): boolean => title.current?.checkVisibility() === true;

export const BoardLink = ({ name }: { name: string }) => (
  <a href={hrefOf({ screen: 'board', board: name, tab: 'talk' })}>{name}</a>
);

interface Decision<T> {
  action: Action;
  title: RefObject<HTMLHeadingElement | null>;
  /** Sends a decision, announces it, and focuses the title because the button disappears. */
  decide(announcement: string, send: () => Promise<T>): Promise<void>;
}

/** @param onDecided called with the result of the request */
export function useDecision<T>(onDecided: (decided: T) => void): Decision<T> {
  const action = useAction();
  const title = useRef<HTMLHeadingElement>(null);
  return {
    action,
    title,
    async decide(said, send) {
      const done = await action.run(async () => onDecided(await send()));
      void readNeeds();
      if (!done) return;
      announce(said);
      title.current?.focus();
    },
  };
}

export interface Choice {
  label: string;
  run: () => void;
}

/** Numbered buttons for a decision. */
export const Choices = ({ choices, busy }: { choices: Choice[]; busy: boolean }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that is shown elsewhere
  <div class="opts decide" role="group" aria-labelledby="inbox-title" aria-busy={busy}>
    {choices.map(({ label, run }, index) => (
      <button
        key={label}
        type="button"
        class={label.length > 14 ? 'opt long' : 'opt'}
        aria-disabled={busy || undefined}
        onClick={run}
      >
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a kbd takes no focus, and the number is not part of the name */}
        <kbd aria-hidden="true">{index + 1}</kbd>
        <span>{label}</span>
      </button>
    ))}
  </div>
);

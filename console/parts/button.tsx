import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import { Link } from 'wouter';

type Kind = 'primary' | 'plain' | 'quiet' | 'danger';

/**
 * A button; `kind` sets its emphasis. While `isPending`, it keeps the focus and ignores presses (the kit's own pending state
 * would announce a label that is gone once a dialog has closed).
 */
export function Button({
  kind = 'plain',
  isPending = false,
  onPress,
  ...props
}: Omit<AriaButtonProps, 'className'> & { kind?: Kind }): ReactNode {
  return (
    <AriaButton
      {...props}
      className={`button button-${kind}${isPending ? ' button-pending' : ''}`}
      {...(onPress === undefined || isPending ? {} : { onPress })}
    />
  );
}

/** A link to another page, styled as a button. */
export function LinkButton({
  href,
  kind = 'plain',
  children,
}: {
  href: string;
  kind?: Kind;
  children: ReactNode;
}): ReactNode {
  return (
    <Link href={href} className={`button button-${kind}`}>
      {children}
    </Link>
  );
}

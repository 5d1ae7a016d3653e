/** The button in a screen's header that opens the palette; an icon on a phone. */
import { formatKeys } from '../state/keys.ts';
import { openOverlay } from '../state/overlay.ts';
import { Icon } from './icon.tsx';

export const PaletteButton = () => (
  <button type="button" class="srch" onClick={() => openOverlay('palette')}>
    <Icon name="search" />
    <span class="sp">Search or go to</span>
    <kbd>{formatKeys('Mod k')}</kbd>
  </button>
);

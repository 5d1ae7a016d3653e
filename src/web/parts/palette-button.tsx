/** Opens the palette from the head of a screen. */
import { keyWords } from '../state/keys.ts';
import { openOver } from '../state/over.ts';
import { Icon } from './icon.tsx';

export const PaletteButton = () => (
  <button type="button" class="srch desk" onClick={() => openOver('palette')}>
    <Icon name="search" />
    <span class="sp">Search or go to</span>
    <kbd>{keyWords('Mod k')}</kbd>
  </button>
);

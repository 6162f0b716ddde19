// Tells the test what the page holds, after each change: the values of the fields, the keys seen, the window's size.
const keys = [];
let sent = '';
async function tell() {
  const button = popup.getBoundingClientRect();
  const state = JSON.stringify({
    buttonX: Math.round(button.x + button.width / 2), buttonY: Math.round(button.y + button.height / 2),
    field: field.value, lines: lines.value, keys, focus: document.hasFocus() ? document.activeElement.id : '',
    width: innerWidth, height: innerHeight, outerWidth, outerHeight,
  });
  if (state === sent) return;
  sent = state;
  await fetch('/told', {method: 'POST', body: state});
}
addEventListener('keydown', e => keys.push('down ' + e.key));
addEventListener('keyup', e => keys.push('up ' + e.key));
popup.addEventListener('click', () => open('/popup.html', 'p', 'width=300,height=200'));
fetch('/told', {method: 'POST', body: '{}'}).then(tell);
setInterval(tell, 20);

-- Feedback about the lists that were answered, waiting to be sent: a click on the second item and a
-- close. For scripts that run in this folder: dofile("shown.lua").

local shown = {}

-- Whether the body is a ranking; keeps the feedback about it.
function is_ranking(body)
  local impression, item = string.match(body,
    '^{"impression":"([^"]+)".-"rank":2}.-{"id":"([^"]+)"')
  if impression and #shown < 1000 then
    shown[#shown + 1] = '[{"impression":"' .. impression .. '","item":"' .. item ..
      '","event":"click"},{"impression":"' .. impression .. '","event":"close"}]'
  end
  return impression ~= nil
end

-- Whether the body says that both events were accepted.
function is_feedback(body)
  return string.find(body, '"accepted":2', 1, true) ~= nil
end

-- A body of feedback that was not sent yet, or nil.
function next_feedback()
  return table.remove(shown)
end

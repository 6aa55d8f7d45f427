// A warp's scratch, by its parts.
#pragma once

#include "gpu/run_data.h"
#include "gpu/warp.h"
#include "plackett/mass.h"

namespace plackett::gpu {

template <typename T>
T* at_offset(std::byte* from, std::uint32_t offset) {
  return reinterpret_cast<T*>(from + offset);
}

// Of one query's documents.
struct DocScratch {
  DocScratch(std::byte* from, const ScratchLayout& layout)
      : scores(at_offset<float>(from, layout.scores)),
        masses(at_offset<double>(from, layout.masses)),
        block_sums(at_offset<double>(from, layout.block_sums)) {}

  float* scores;
  double* masses;
  double* block_sums;
};

// Of one list, and the weights.
struct ListScratch {
  ListScratch(std::byte* from, const ListLayout& layout)
      : uniforms(at_offset<double>(from, layout.uniforms)),
        plain(at_offset<double>(from, layout.masses)),
        mass_from(at_offset<Mass>(from, layout.masses)),
        scores(at_offset<double>(from, layout.scores)),
        click_draws(at_offset<std::uint32_t>(from, layout.click_draws)),
        docs(at_offset<std::uint32_t>(from, layout.docs)),
        labels(at_offset<std::uint32_t>(from, layout.labels)),
        winners(at_offset<std::uint32_t>(from, layout.winners)),
        losers(at_offset<std::uint32_t>(from, layout.losers)),
        scales(at_offset<float>(from, layout.scales)),
        query(at_offset<std::uint32_t>(from, layout.query)),
        run(at_offset<std::uint32_t>(from, layout.run)),
        weights(at_offset<float>(from, layout.weights)),
        pairs(at_offset<double>(from, layout.pairs)) {}

  double* uniforms;
  double* plain;    // per rank, then `plain_from`, as swap_odds::rho_plain takes them
  Mass* mass_from;  // in the same place, as swap_odds::rho_any_range takes it
  double* scores;
  std::uint32_t* click_draws;
  std::uint32_t* docs;
  std::uint32_t* labels;
  std::uint32_t* winners;  // ranks that were clicked
  std::uint32_t* losers;   // ranks that were seen and not clicked; or those that step, by `scales`
  float* scales;
  std::uint32_t* query;
  std::uint32_t* run;  // the words of a RunData
  float* weights;
  double* pairs;
};

// All of a warp's.
struct WarpScratch {
  // `own_spill` is the warp's own.
  [[gnu::always_inline]] WarpScratch(const BatchArgs& args, std::uint32_t run,
                                     std::byte* own_shared, std::byte* own_spill)
      : small(own_shared, args.small),
        large(own_spill, args.large),
        list(own_shared + args.small.size, args.list),
        duels_shared(own_shared + args.small.size + args.list.size),
        shared(own_shared),
        spill(own_spill),
        which(run),
        small_docs(args.small.docs) {
    if (args.pairs_are_spilled) list.pairs = at_offset<double>(own_spill, args.spill_pairs);
  }

  [[nodiscard]] const DocScratch& of(std::uint32_t docs) const {
    return docs <= small_docs ? small : large;
  }

  // Between two phases: addresses that the next one needs are computed in it. Kept from phase to
  // phase they take registers, and where these run short, local memory, which is slow.
  [[gnu::always_inline]] void find_again(const BatchArgs& args) {
    *this = WarpScratch(args, which, unknown(shared), unknown(spill));
  }

  DocScratch small;
  DocScratch large;
  ListScratch list;
  std::byte* duels_shared;  // what DuelArgs divides
  std::byte* shared;
  std::byte* spill;
  std::uint32_t which;  // the run
  std::uint32_t small_docs;
};

}  // namespace plackett::gpu

# SPDX-License-Identifier: MIT
# Sourced by tests of `latput property`.
# shellcheck shell=bash

# property_tree: makes $LATPUT_ROOT a tree without properties; macros/own.inc there is of standard
# input.
property_tree() {
    export LATPUT_ROOT=$SCRATCH/root
    mkdir -p root/lists/properties root/build
    ln -s "$TREE/cpuinfo" root/
    own_db root
    cp -r "$TREE/macros" root/macros
    cp "$TREE/lists/exceptions.csv" root/lists/
    ln -s "$TREE/lists/words" root/lists/
    ln -s "$BUILD"/core*.o root/build/
    { echo '%ifndef OWN_INC' && echo '%define OWN_INC' && cat && echo '%endif'; } \
        >root/macros/own.inc
}

# property_list NAME: a list of the rows of standard input.
property_list() {
    local columns=name,title,question,x_unit,y_unit,variants,sweep,by,template,data,count
    { echo "# $1" && echo "$columns,reading,compare,options" && cat; } \
        >"root/lists/properties/${1,}.csv"
}
